//! Scores, counted by hand and against each other.

use pgn_engine::{Config, Model, Rollout};
use pgn_lab::{
    Examples, Scores,
    analysis::{BeyondCounting, PointerStudy},
    collection::Table,
    evaluate::{Prediction, evaluate_set, score_predictions},
};
use pgn_runs::Stop;
use pgn_structures::{Dataset, Operation, Sampling, Sequence, Split, Task};

/// Two nodes, four steps; answers 1 1 0 0.
const OPERATIONS: [Operation; 4] = [Operation::new(0, 1); 4];
const TRUTH: Sequence<'static> = Sequence {
    priorities: &[0.1, 0.2],
    operations: &OPERATIONS,
    answers: &[1, 1, 0, 0],
    masks: &[0, 0, 1, 1, 0, 1, 1, 0],
    pointers: &[1, 1, 1, 1, 0, 0, 0, 1],
    fields: pgn_structures::FieldRows::NONE,
    edges: &[],
};

fn bits(logits: &[f32]) -> Vec<u8> {
    logits.iter().map(|&logit| u8::from(logit > 0.0)).collect()
}

/// What rollouts of the truth's sequence score together.
fn scores_of(rollouts: &[Rollout]) -> Scores {
    let answers: Vec<_> = rollouts.iter().map(|rollout| bits(&rollout.query_logits)).collect();
    let masks: Vec<_> =
        rollouts.iter().map(|rollout| rollout.mask_logits.as_ref().map(|all| bits(all))).collect();
    let predictions: Vec<_> = (0..rollouts.len())
        .map(|i| Prediction {
            answers: &answers[i],
            masks: masks[i].as_deref(),
            pointers: rollouts[i].pointers.as_deref(),
        })
        .collect();
    score_predictions(&vec![TRUTH; rollouts.len()], &predictions, None).unwrap().scores
}

#[test]
fn counts_by_hand() {
    let rollout = Rollout {
        query_logits: vec![2.0, -1.0, 0.5, 0.0],
        mask_logits: Some(vec![-1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 0.0]),
        pointers: Some(vec![1, 1, 1, 1, 0, 0, 1, 1]),
    };
    let scores = scores_of(&[rollout]);
    // One true positive, one false positive, one false negative, one true negative.
    assert_eq!(scores.f1, 0.5);
    assert_eq!(scores.precision, 0.5);
    assert_eq!(scores.recall, 0.5);
    assert_eq!(scores.accuracy, 0.5);
    assert_eq!(scores.sequences_right, 0.0);
    assert_eq!(scores.sequences_exact, Some(0.0));
    assert_eq!(scores.pointer_accuracy, Some(7.0 / 8.0));
    assert_eq!(scores.mask_accuracy, Some(7.0 / 8.0));
    assert_eq!(scores.f1_always_1, 2.0 / 3.0);
    assert_eq!(scores.f1_always_0, 0.0);
}

#[test]
fn exact_is_right_to_the_last_pointer() {
    let mut rollout = Rollout {
        query_logits: vec![1.0, 1.0, -1.0, -1.0],
        mask_logits: None,
        pointers: Some(TRUTH.pointers.to_vec()),
    };
    let mut rollouts = vec![rollout.clone()];
    rollout.pointers.as_mut().unwrap()[7] = 0;
    rollouts.push(rollout.clone());
    rollout.query_logits[0] = -1.0;
    rollouts.push(rollout);
    let scores = scores_of(&rollouts);
    assert_eq!(scores.sequences_exact, Some(1.0 / 3.0));
    assert_eq!(scores.sequences_right, 2.0 / 3.0);
}

#[test]
fn a_perfect_rollout_and_one_without_positives() {
    let right =
        Rollout { query_logits: vec![1.0, 1.0, -1.0, -1.0], mask_logits: None, pointers: None };
    let scores = scores_of(&[right]);
    assert_eq!((scores.f1, scores.sequences_right), (1.0, 1.0));
    assert_eq!((scores.pointer_accuracy, scores.mask_accuracy), (None, None));

    let never = Rollout { query_logits: vec![-1.0; 4], mask_logits: None, pointers: None };
    let scores = scores_of(&[never]);
    assert_eq!((scores.f1, scores.precision), (0.0, 0.0));
    assert_eq!(scores_of(&[]).f1, 0.0);
}

fn test_set() -> Dataset {
    let sampling = Sampling { count: 6, split: Split::Test, ..Sampling::paper(12) };
    Dataset::sample(&Task::named("lct").unwrap(), &sampling).unwrap()
}

/// A model of ours, judged by its rollouts, has the scores that it gets elsewhere.
#[test]
fn the_same_scores_as_our_own_models() {
    let set = test_set();
    let truth: Vec<_> = set.sequences().collect();
    let model = Model::new(Config::preset("pgn").unwrap(), 3).unwrap();
    let rollouts = model.rollouts(&truth).unwrap();
    let answers: Vec<_> = rollouts.iter().map(|rollout| bits(&rollout.query_logits)).collect();
    let masks: Vec<_> =
        rollouts.iter().map(|rollout| bits(rollout.mask_logits.as_ref().unwrap())).collect();
    let predictions: Vec<_> = (0..truth.len())
        .map(|i| Prediction {
            answers: &answers[i],
            masks: Some(&masks[i]),
            pointers: rollouts[i].pointers.as_deref(),
        })
        .collect();
    let scored = score_predictions(&truth, &predictions, None).unwrap();
    let examples = Examples::from(set.clone());
    let scores = evaluate_set(&model, &examples, Stop::NEVER).unwrap().scores;
    assert_eq!(scored.scores, scores);
    let beyond = BeyondCounting::of(&model, &examples).unwrap();
    assert_eq!(scored.beyond_counting, beyond.gain());
    let study = PointerStudy::of(&model, &examples).unwrap();
    assert_eq!(scored.valid, Some(study.valid));
    assert_eq!(scored.pair_precision, Some(study.pair_precision));
    assert_eq!(scored.pair_recall, Some(study.pair_recall));
    assert!(scored.first_error.is_some());
}

#[test]
fn the_truth_is_right_and_nonsense_is_refused() {
    let set = test_set();
    let truth: Vec<_> = set.sequences().collect();
    let all: Vec<Prediction<'_>> = truth
        .iter()
        .map(|sequence| Prediction {
            answers: sequence.answers,
            masks: Some(sequence.masks),
            pointers: Some(sequence.pointers),
        })
        .collect();
    let scored = score_predictions(&truth, &all, None).unwrap();
    assert_eq!((scored.scores.f1, scored.scores.sequences_exact), (1.0, Some(1.0)));
    assert_eq!((scored.first_error, scored.valid), (None, Some(1.0)));
    assert_eq!((scored.pairs, scored.beyond_counting), (Some(1.0), 1.0));

    let sentence = |predictions: &[Prediction<'_>]| {
        score_predictions(&truth, predictions, None).unwrap_err().to_string()
    };
    assert!(sentence(&all[1..]).contains("for 5 sequences; expected 6"));
    let mut wrong = all.clone();
    let twos = vec![2; set.ops];
    wrong[3].answers = &twos;
    assert!(sentence(&wrong).contains("sequence 3: a predicted answer is 2; expected 0 or 1"));
    wrong[3].answers = &twos[1..];
    assert!(sentence(&wrong).contains("sequence 3: there are 17 answers; expected 18"));
    let far = vec![12; set.ops * 12];
    wrong[3] = Prediction { pointers: Some(&far), ..all[3] };
    assert!(sentence(&wrong).contains("a predicted pointer is 12; expected a node below 12"));
}

#[test]
fn text_is_aligned_and_fits_80_columns() {
    let cells = |row: &[&str]| row.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    let wide = "0.123 ± 0.456 of something else";
    let table = Table {
        title: "What `pgn` knows".to_owned(),
        header: cells(&["", "n = 20", "n = 50", "n = 100"]),
        rows: vec![cells(&["`pgn`", wide, "1", wide]), cells(&["`deepsets`", "2", "3", "4"])],
    };
    let text = table.text();
    assert!(text.starts_with("What pgn knows\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('`'), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("deepsets")).collect();
    assert_eq!(rows.len(), 2, "the last column goes below: {text}");
    assert!(rows[1].ends_with(" 4"), "{text}");
}
