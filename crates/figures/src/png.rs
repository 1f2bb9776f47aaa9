//! SVG to PNG with an embedded font, so that the outcome does not depend on installed ones.

use std::sync::Arc;

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};

use crate::{Error, Figure};

const FONTS: [&[u8]; 2] =
    [include_bytes!("../font/DejaVuSans.ttf"), include_bytes!("../font/DejaVuSans-Bold.ttf")];

/// The figure in its light colours, `scale` pixels to a unit of the SVG.
pub fn png(figure: &Figure, scale: f32) -> Result<Vec<u8>, Error> {
    let failed = |why: String| Error::Png { name: figure.name.clone(), why };
    let mut fonts = Database::new();
    FONTS.iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    let options = Options {
        font_family: "DejaVu Sans".to_owned(),
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let tree = Tree::from_str(&figure.svg, &options).map_err(|error| failed(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(scale);
    let mut pixels = size
        .and_then(|size| Pixmap::new(size.width(), size.height()))
        .ok_or_else(|| failed("it has no size".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(error.to_string()))
}
