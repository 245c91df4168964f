//! What a server decides.

use openai_harmony::interop::{Dialect, Json, MakeId, ReadOptions, ReplyOptions, Resolve};
use serde_json::json;

use super::{options, said, system};

#[test]
fn the_date_is_that_of_today() {
    let body = json!({"messages": [{"role": "user", "content": "Hi"}]});
    let today = system(&Dialect::ChatCompletions.read(body, &ReadOptions::new()).unwrap());
    let (_, today) = today.split_once("Current date: 20").unwrap();
    assert_eq!(today.find("\n\n"), Some("25-06-28".len()));
}

#[test]
fn history_comes_before_the_messages() {
    let history =
        vec![json!({"role": "user", "content": "A"}), json!({"role": "assistant", "content": "B"})];
    let with = options().with_history(history);
    for dialect in Dialect::ALL {
        let messages = if *dialect == Dialect::Responses { "input" } else { "messages" };
        let body = json!({messages: [{"role": "user", "content": "C"}]});
        let turn = dialect.read(&body, &with).unwrap();
        assert_eq!(
            said(&turn),
            "<|start|>user<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>B<|end|>\
             <|start|>user<|message|>C<|end|>"
        );
        let sources: Vec<_> = (1..4).map(|at| turn.source(at).unwrap().to_string()).collect();
        assert_eq!(sources, ["history[0]", "history[1]", &format!("{messages}[0]")], "{dialect}");
    }
}

#[test]
fn functions_of_ones_own_are_named_when_options_are_shown() {
    let read = options().with_resolve(Resolve::new(|_| None::<Json>));
    assert!(format!("{read:?}").contains("Resolve"));
    let reply = ReplyOptions::new("m").with_make_id(MakeId::new(str::to_owned));
    assert!(format!("{reply:?}").contains("MakeId"));
}
