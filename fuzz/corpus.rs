//! Writes the corpus that fuzzing starts from: an intact file for every reader.

fn main() -> std::io::Result<()> {
    for reader in pgn_fuzz::readers::all() {
        let folder = std::path::Path::new("corpus").join(reader.name.replace(' ', "-"));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("intact"), reader.seed)?;
    }
    pgn_fuzz::readers::clean_up();
    Ok(())
}
