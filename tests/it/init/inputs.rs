//! The model and the text: named, guessed, or missing.

use std::fs;

use super::{make_tree, written};

#[test]
fn what_the_user_names_wins() {
    let env = make_tree().env;
    fs::write(env.path("inputs/other.bin"), "x").unwrap();
    env.run(&["init", "--model", "../inputs/other.bin", "--text", "data/corpus.txt"]).expect(0);
    let text = written(&env);
    assert!(text.contains("model = \"../inputs/other.bin\"   # given with --model"), "{text}");
    assert!(text.contains("text  = \"data/corpus.txt\"       # given with --text"), "{text}");
    let gone = env.run(&["init", "--force", "--model", "gone.bin"]).expect(2);
    gone.says(&["--model gone.bin: No such file", "hint: correct the path"]);
    assert_eq!(written(&env), text, "nothing was written");
}

#[test]
fn what_may_be_the_model_or_the_text_is_named() {
    let env = make_tree().env;
    fs::write(env.repo().join("models/model.bin"), vec![b'x'; 5000]).unwrap();
    env.run(&["init"]).expect(2).says(&[
        "error: no model was found in this checkout\n  not taken: models/model.bin (4.9 KiB; init takes no smaller file than 64.0 KiB)",
        "hint: name one with --model FILE, such as --model models/model.bin",
    ]);
    fs::rename(env.repo().join("data/corpus.txt"), env.repo().join("data/val.txt")).unwrap();
    env.run_in(&env.repo().join("data"), &["init", "--model", "../models/model.bin"])
        .expect(2)
        .says(&[
            "error: no text was found in this checkout\n  not taken: val.txt (4.9 KiB; the name does not say that it is a text to measure on)",
            "hint: name one with --text FILE, such as --text val.txt",
        ]);
    env.run(&["init", "--model", "models"]).expect(2).says(&[
        "error: --model models is a folder; init needs the model's file",
        "hint: name the file: --model models/model.bin",
    ]);
    assert!(!env.repo().join("oracle.toml").exists());
}

#[test]
fn without_a_model_nothing_is_invented() {
    let env = make_tree().env;
    fs::remove_dir_all(env.repo().join("models")).unwrap();
    env.run(&["init"]).expect(2).says(&["no model was found", "hint: name one with --model FILE"]);
    assert!(!env.repo().join("oracle.toml").exists());
}
