//! The same graph in four formats, and what is wrong with files that are not graphs.

use pgn_lab::machine::{MachineRun, Mode};
use pgn_uses::graph::{Format, Graph};
use pgn_uses::problems::{online_forest, spanning_forest};

const FILES: [(&str, Format, &str); 4] = [
    ("g.txt", Format::EdgeList, "# comment\n0 1 2.5\n1 2 1\n% more\n2 0 3\n2 3 4\n"),
    ("g.gr", Format::Dimacs, "c comment\np sp 4 4\na 1 2 2.5\na 2 3 1\na 3 1 3\na 3 4 4\n"),
    (
        "g.mtx",
        Format::MatrixMarket,
        "%%MatrixMarket matrix coordinate real symmetric\n% comment\n4 4 4\n\
         1 2 2.5\n2 3 1\n3 1 3\n3 4 4\n",
    ),
    ("g.csv", Format::Csv, "from,to,length\na,b,2.5\nb,c,1\nc, a ,3\nc,the end,4\n"),
];

#[test]
fn four_formats_of_one_graph() {
    let folder = tempfile::tempdir().unwrap();
    let run = MachineRun::built_in("dsu").unwrap();
    let lct = MachineRun::built_in("lct").unwrap();
    for (name, format, text) in FILES {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        assert_eq!(Format::of(&path), format);
        let graph = Graph::read(&path).unwrap();
        let ends: Vec<_> = graph.edges.iter().map(|edge| (edge.u, edge.v, edge.weight)).collect();
        assert_eq!(graph.nodes, 4);
        assert_eq!(ends, [(0, 1, 2.5), (1, 2, 1.0), (2, 0, 3.0), (2, 3, 4.0)], "{name}");
        let (forest, operations) =
            spanning_forest(&run, Mode::Compiled, graph.nodes, &graph.edges).unwrap();
        assert_eq!((&forest[..], operations), (&[1, 0, 3][..], 4));
        assert_eq!(graph.weight(forest), 7.5);
        let solution = online_forest(&lct, Mode::Compiled, graph.nodes, &graph.edges).unwrap();
        assert_eq!(solution.output, b"-1 -1 2 -1\n");
    }
}

#[test]
fn edges_without_weights_weigh_one() {
    for (format, text) in [
        (Format::EdgeList, "0 1\n"),
        (Format::Dimacs, "p edge 2 1\ne 1 2\n"),
        (Format::MatrixMarket, "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"),
        (Format::Csv, "u,v\nx,y\n"),
    ] {
        let graph = Graph::parse(text, format).unwrap();
        assert_eq!((graph.nodes, graph.weight([0])), (2, 1.0));
    }
}

#[test]
fn no_edges_weigh_nothing() {
    let graph = Graph::parse("p sp 3 0\n", Format::Dimacs).unwrap();
    assert_eq!(graph.weight([]).to_string(), "0");
}

// Elsewhere it is not known how much memory there is.
#[cfg(target_os = "linux")]
#[test]
fn more_nodes_than_fit_in_memory_are_refused() {
    let nodes = 1 << 50;
    let [dsu, lct] = ["dsu", "lct"].map(|name| MachineRun::built_in(name).unwrap());
    let none: [pgn_uses::Edge<f64>; 0] = [];
    let outcomes = [
        spanning_forest(&dsu, Mode::Compiled, nodes, &none).map(drop),
        online_forest(&lct, Mode::Compiled, nodes, &none).map(drop),
    ];
    for outcome in outcomes {
        let error = outcome.unwrap_err().to_string();
        assert!(error.starts_with("a spanning forest of 1125899906842624 nodes takes"), "{error}");
    }
}

#[test]
fn wrong_files_are_named_with_their_line() {
    let wrong = [
        (Format::EdgeList, "0 1\n0 -1\n", "line 2: found `-1`; expected a node from 0"),
        (Format::EdgeList, "0 1 nan\n", "line 1: found `nan`; expected a weight, a finite number"),
        (Format::EdgeList, "0 1 2 3\n", "line 1: found `3`; expected the end of the line"),
        (Format::Dimacs, "p sp 2 1\na 1 3 1\n", "line 2: found `3`; expected a node from 1 to 2"),
        (Format::Dimacs, "a 1 2 1\n", "line 1: an edge comes before the line that begins with"),
        (Format::Dimacs, "p sp 2 2\na 1 2 1\n", "it has 1 edges; its header announces 2"),
        (Format::Dimacs, "c\n", "it has no line that begins with `p`"),
        (Format::MatrixMarket, "1 1 0\n", "line 1: expected `%%MatrixMarket matrix coordinate"),
        (
            Format::MatrixMarket,
            "%%MatrixMarket matrix coordinate real general\n2 3 0\n",
            "line 2: the matrix is 2 × 3; expected a square one",
        ),
        (
            Format::MatrixMarket,
            "%%MatrixMarket matrix coordinate complex general\n",
            "line 1: entries are `complex`; expected real, integer or pattern",
        ),
        // What a terminal would act on is escaped.
        (Format::EdgeList, "\u{1b}[2J 1\n", "line 1: found `\\u{1b}[2J`; expected a node from 0"),
        (Format::Csv, "u,v\nx\n", "line 2: expected two nodes with a comma between them"),
        (Format::Csv, "u,v\n\"x\",y\n", "line 2: expected names of nodes, without quotes"),
    ];
    for (format, text, message) in wrong {
        let error = Graph::parse(text, format).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let error = Graph::read("/nowhere/x.gr".as_ref()).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/x.gr: "), "{error}");
}

#[test]
fn formats_are_told_by_name_in_capitals_too_and_by_the_banner() {
    for (name, format) in [
        ("G.MTX", Format::MatrixMarket),
        ("g.mm", Format::MatrixMarket),
        ("G.GR", Format::Dimacs),
        ("g.CSV", Format::Csv),
        ("g.txt", Format::EdgeList),
    ] {
        assert_eq!(Format::of(name.as_ref()), format, "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.txt");
    std::fs::write(&path, FILES[2].2).unwrap();
    assert_eq!(Graph::read(&path).unwrap().edges.len(), 4, "its size line is no edge");
}

#[test]
fn nothing_is_rounded_lost_or_overflows_in_silence() {
    let wrong = [
        (Format::EdgeList, "0 1 9007199254740993\n", "line 1: found `9007199254740993`; expected"),
        (Format::Csv, "0,1\n1,2\n", "line 1: found `0,1`, an edge; expected the names of the col"),
        (Format::Csv, "a,b,2.5\nb,c,1\n", "line 1: found `a,b,2.5`, an edge"),
        (Format::Csv, "a,b\nb,c\n", "line 1: found `a,b`, an edge"),
        (Format::EdgeList, "0 1 1.5e308\n1 2 1.5e308\n", "its weights add up to more than"),
        (Format::EdgeList, "0 1\n0 1073741823\n", "it has 1073741824 nodes and 2 edges; expected"),
        (Format::Dimacs, "p sp 1073741824 0\n", "it has 1073741824 nodes and 0 edges; expected"),
    ];
    for (format, text, message) in wrong {
        let error = Graph::parse(text, format).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    let graph = Graph::parse("0 1 9007199254740992\n1 2 1e300\n", Format::EdgeList).unwrap();
    assert_eq!(graph.edges[0].weight, 9_007_199_254_740_992.0);
}

#[test]
fn a_file_of_one_endless_line_is_not_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.txt");
    // Sparse: it takes no space on disk, and must take none in memory.
    std::fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
    let error = Graph::read(&path).unwrap_err().to_string();
    assert!(error.ends_with("g.txt: line 1: it is longer than 65536 bytes"), "{error}");
}
