//! Rows in the shapes that data sets have: whatever the shape, the conversation is the same.

use openai_harmony::chat::{Conversation, Message, ReasoningEffort, Role};
use openai_harmony::interop::{Date, ReadOptions, chat_completions};
use openai_harmony::training::{
    Batch, ExampleUnit, Markers, Overflow, Row, RowFormat, RowOptions, render,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::conversations::conversation;
use crate::encoding;

fn rendered<'r>(row: impl Into<Row<'r>>, format: RowFormat) -> Batch {
    // The texts of random conversations spell anything.
    let options = RowOptions::new().with_format(format).with_markers(Markers::Text);
    let mut batch = render(&encoding(), [row.into()], &options);
    // What says nothing to the model depends on the shape.
    batch.unused.clear();
    batch
}

/// What the assistant does, and the results of its calls.
fn step() -> impl Strategy<Value = Vec<Value>> {
    let text = || "[a-zé][a-zé ]{0,11}";
    let thought = prop::option::of(text());
    let key = select(&["reasoning_content", "reasoning", "thinking"][..]);
    let answer = (text(), thought, key).prop_map(|(text, thought, key)| {
        let mut message = json!({"role": "assistant", "content": text});
        if let Some(thought) = thought {
            message[key] = thought.into();
        }
        vec![message]
    });
    let calls = (prop::collection::vec(text(), 1..3), any::<bool>()).prop_map(|(texts, has_id)| {
        let id = |index: usize| format!("c{index}");
        let call = |(index, text): (usize, &String)| {
            let arguments = json!({"x": text}).to_string();
            let mut call = json!({"function": {"name": "f", "arguments": arguments}});
            if has_id {
                call["id"] = id(index).into();
            }
            call
        };
        let calls: Vec<Value> = texts.iter().enumerate().map(call).collect();
        let result = |(index, text): (usize, &String)| {
            let mut result = json!({"role": "tool", "content": text});
            if has_id {
                result["tool_call_id"] = id(index).into();
            }
            result
        };
        let results = texts.iter().enumerate().map(result);
        [json!({"role": "assistant", "tool_calls": calls})].into_iter().chain(results).collect()
    });
    prop_oneof![answer, calls]
}

/// The messages of a chat, and the tools beside them.
fn chat() -> impl Strategy<Value = (Vec<Value>, Option<Vec<Value>>)> {
    let system = prop::option::of(Just(json!({"role": "system", "content": "Be brief."})));
    let user = "[a-z ]{0,12}".prop_map(|text| json!({"role": "user", "content": text}));
    let turn = (user, prop::collection::vec(step(), 0..3))
        .prop_map(|(user, steps)| [user].into_iter().chain(steps.concat()).collect::<Vec<_>>());
    let turns = prop::collection::vec(turn, 1..4);
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let tool = json!({"name": "f", "description": "Does it.", "parameters": schema});
    let tools = prop::option::of(Just(vec![tool]));
    (system, turns, tools).prop_map(|(system, turns, tools)| {
        (system.into_iter().chain(turns.concat()).collect(), tools)
    })
}

/// The tools as chat completions have them.
fn declared(tools: &[Value]) -> Value {
    tools.iter().map(|tool| json!({"type": "function", "function": tool})).collect()
}

/// A message as `from` and `value`, if these can say all of it.
fn from_value(message: &Value) -> Value {
    let fields = message.as_object().unwrap();
    let from = match message["role"].as_str().unwrap() {
        "user" => "human",
        "assistant" => "gpt",
        "tool" => "observation",
        role => role,
    };
    if fields.len() == 2 && fields.contains_key("content") {
        return json!({"from": from, "value": message["content"]});
    }
    match message["tool_calls"].as_array().map(Vec::as_slice) {
        Some([call]) => json!({"from": "function_call", "value": call.to_string()}),
        Some([_, _]) => json!({"from": "function_call", "value": message["tool_calls"]}),
        Some(calls) => json!({"from": "function_call", "value": json!(calls).to_string()}),
        None => message.clone(),
    }
}

/// The same chat in every shape.
fn shapes(messages: &[Value], tools: Option<&Vec<Value>>, split: usize) -> Vec<Value> {
    let texts = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>();
    let all = json!(messages);
    let mut lists = vec![
        json!({"messages": all}),
        json!({"messages": all.to_string(), "conversations": null, "prompt": "not read"}),
        json!({"conversations": all, "id": 3, "source": {"url": "x"}, "messages": null}),
        json!({"conversation": all, "chat_template_kwargs": "", "model_identity": null}),
        json!({"conversations": messages.iter().map(from_value).collect::<Vec<_>>()}),
        json!({"prompt": messages[..split], "completion": messages[split..]}),
    ];
    let weighted = messages.iter().map(|message| {
        let mut message = message.clone();
        message["weight"] = 1.into();
        message["name"] = Value::Null;
        message
    });
    lists.push(json!({"messages": weighted.collect::<Vec<_>>()}));
    let Some(tools) = tools else {
        lists.push(all);
        return lists;
    };
    let declarations = [
        declared(tools),
        json!(tools),
        declared(tools).to_string().into(),
        json!(texts(tools)),
        json!(texts(declared(tools).as_array().unwrap())),
    ];
    let mut shapes = Vec::new();
    for row in lists {
        for tools in &declarations {
            let mut row = row.clone();
            row["tools"] = tools.clone();
            shapes.push(row);
        }
        let kwargs = json!({"tools": tools, "enable_thinking": null});
        for kwargs in [kwargs.to_string().into(), kwargs] {
            let mut row = row.clone();
            row["chat_template_kwargs"] = kwargs;
            shapes.push(row);
        }
    }
    shapes
}

proptest! {
    #[test]
    fn every_shape_is_the_same_conversation((messages, tools) in chat(), split in any::<prop::sample::Index>()) {
        let mut body = json!({"messages": messages});
        if let Some(tools) = &tools {
            body["tools"] = declared(tools);
        }
        let options = ReadOptions::new().with_date(Date::Omitted);
        let turn = chat_completions::read(&body, &options).unwrap();
        let mut said = turn.conversation.messages;
        let is_own = |message: &Message| message.author.role == Role::Assistant;
        // What follows the assistant's last message is left out.
        said.truncate(said.iter().rposition(is_own).map_or(said.len(), |last| last + 1));
        let expected = rendered(Conversation::from_messages(said), RowFormat::Chat);
        let split = if messages.len() > 1 { 1 + split.index(messages.len() - 1) } else { 0 };
        for row in shapes(&messages, tools.as_ref(), split) {
            // Of a prompt nothing is trained: see below.
            let is_prompted = || messages[..split].iter().any(|said| said["role"] == "assistant");
            // A completion may repeat the prompt's question.
            let is_repeated = || messages[split..].starts_with(&messages[split - 1..split]);
            if row.get("completion").is_some() && (split == 0 || is_prompted() || is_repeated()) {
                continue;
            }
            prop_assert_eq!(&rendered(&*row.to_string(), RowFormat::Chat), &expected, "{}", row);
            prop_assert_eq!(&rendered(row, RowFormat::Chat), &expected);
        }
    }

    #[test]
    fn a_harmony_row_is_the_conversation_whose_json_it_is(conversation in conversation()) {
        let expected = rendered(conversation.clone(), RowFormat::Harmony);
        let json = serde_json::to_value(&conversation).unwrap();
        let has_messages = !conversation.messages.is_empty();
        for json in [json["messages"].clone(), json] {
            let rows = [Row::from(json.to_string()), Row::from(json)];
            for row in rows {
                let batch = rendered(row, RowFormat::Harmony);
                if has_messages {
                    prop_assert_eq!(&batch, &expected);
                } else {
                    prop_assert_eq!(batch.errors[0].1.to_string(), "Invalid row: messages is empty");
                }
            }
        }
        // A `Conversation` is harmony's whatever the format.
        prop_assert_eq!(rendered(conversation, RowFormat::Chat), expected);
    }
}

/// Tables have an empty text where others have null, in columns of lists and objects, too.
#[test]
fn a_blank_text_is_no_list_and_no_object() {
    let row = |key: &str, value: Value| {
        let mut row = json!({"prompt": "Hi", "completion": "Hi"});
        row[key] = value;
        rendered(row, RowFormat::Chat)
    };
    let effort = ["reasoning", "reasoning_effort"];
    for key in
        ["tools", "functions", "response_format", "chat_template_kwargs"].iter().chain(&effort)
    {
        for blank in ["", " \n"] {
            let batch = row(key, json!(blank));
            assert_eq!(batch.errors, [], "{key}: {blank:?}");
            assert_eq!(batch, row(key, Value::Null), "{key}: {blank:?}");
        }
    }
    assert_ne!(row("tools", json!([{"name": "f"}])), row("tools", json!("")));
}

/// The date is that of no day unless one is asked for, the identity the model's own.
#[test]
fn the_system_message_says_what_is_asked() {
    let text = |options: &RowOptions, row: Value| {
        let options = options.clone().with_format(RowFormat::Chat);
        let batch = render(&encoding(), [row], &options);
        let first = batch.spans[0];
        let tokens = &batch.tokens[first.content..first.stop];
        encoding().tokenizer().decode_utf8(tokens).unwrap()
    };
    let row = |setting: Value| {
        let mut row = json!({"prompt": "Hi", "completion": "Hi"});
        row.as_object_mut().unwrap().extend(setting.as_object().unwrap().clone());
        row
    };
    let options = RowOptions::new();
    let plain = text(&options, row(json!({})));
    assert!(!plain.contains("Current date"), "{plain}");
    assert!(plain.starts_with("You are ChatGPT") && plain.contains("Reasoning: medium"), "{plain}");
    let dated = options.clone().with_date(Date::Given("2025-06-28".to_owned()));
    assert!(text(&dated, row(json!({}))).contains("Current date: 2025-06-28"));
    let named = options.clone().with_identity("You are Ada.");
    assert!(text(&named, row(json!({}))).starts_with("You are Ada."));
    // What the row says counts more than the option.
    let own = row(json!({"model_identity": "You are Bob.", "reasoning_effort": "high"}));
    let said = text(&named, own);
    assert!(said.starts_with("You are Bob.") && said.contains("Reasoning: high"), "{said}");
    let template = row(json!({"chat_template_kwargs": {"reasoning_effort": "low"}}));
    assert!(text(&options, template).contains("Reasoning: low"));
}

#[test]
fn an_effort_of_its_own_counts_more_than_that_of_all_rows() {
    let low =
        RowOptions::new().with_format(RowFormat::Chat).with_reasoning_effort(ReasoningEffort::Low);
    for (own, effort) in [
        (json!({}), "low"),
        (json!({"reasoning_effort": null, "reasoning": {"effort": null}}), "low"),
        (json!({"reasoning_effort": " ", "chat_template_kwargs": {}}), "low"),
        (json!({"reasoning_effort": "High"}), "high"),
        (json!({"reasoning": {"effort": "high"}}), "high"),
        (json!({"chat_template_kwargs": "{\"reasoning_effort\": \"high\"}"}), "high"),
    ] {
        let mut row = json!({"prompt": "Hi", "completion": "Hi"});
        row.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let batch = render(&encoding(), [row], &low);
        let text = encoding().tokenizer().decode_utf8(&batch.tokens).unwrap();
        assert!(text.contains(&format!("Reasoning: {effort}")), "{own}: {text}");
    }
}

#[test]
fn of_a_prompt_that_the_assistant_has_a_part_in_the_completion_alone_is_trained() {
    let said = |role: &str, content: &str| json!({"role": role, "content": content});
    let prompt = [said("user", "a"), said("assistant", "b"), said("user", "c")];
    let trained = |row: &Value, options: &RowOptions| {
        let batch = render(&encoding(), [row.clone()], options);
        let text = |example: openai_harmony::training::Example<'_>| {
            let tokens = example.tokens.iter().zip(example.loss_mask).filter(|(_, one)| **one == 1);
            encoding().tokenizer().decode_utf8(tokens.map(|(token, _)| *token).collect::<Vec<_>>())
        };
        let texts = batch.iter().map(|example| text(example).unwrap()).collect::<Vec<_>>();
        (texts, batch.errors.first().map(|(_, error)| error.to_string()))
    };
    let row = json!({"prompt": prompt, "completion": [said("assistant", "d")]});
    let answer = vec!["<|channel|>final<|message|>d<|return|>".to_owned()];
    let options = RowOptions::new().with_format(RowFormat::Chat);
    for examples in [ExampleUnit::Conversation, ExampleUnit::Turns] {
        let options = options.clone().with_examples(examples);
        assert_eq!(trained(&row, &options), (answer.clone(), None));
    }
    let row = json!({"prompt": prompt[..2], "completion": [said("assistant", "d")]});
    let (texts, error) = trained(&row, &options);
    assert!(texts.is_empty() && error.unwrap().starts_with("Invalid row: prompt: "));
}

/// A bad row counts only where some turns of it are examples.
#[test]
fn what_is_not_used_of_a_bad_row_counts_with_its_examples() {
    let said = |role: &str, text: &str| json!({"role": role, "content": text, "mood": 1});
    let long = "a ".repeat(300);
    let row = |texts: [&str; 2]| {
        let pairs = texts.map(|text| [said("user", "Hi"), said("assistant", text)]);
        json!({"messages": pairs.concat()})
    };
    let options = RowOptions::new()
        .with_format(RowFormat::Chat)
        .with_examples(ExampleUnit::Turns)
        .with_max_tokens(200, Overflow::Error);
    for (rows, count) in [
        (vec![row(["Hi", &long])], Some(4)),
        (vec![row([&long, "Hi"])], None),
        (vec![row(["Hi", "Hi"]), row([&long, "Hi"])], Some(4)),
    ] {
        let batch = render(&encoding(), rows, &options);
        assert_eq!(batch.errors.len(), 1, "{:?}", batch.errors);
        assert_eq!(batch.unused.get("messages[].mood").copied(), count);
    }
}

/// Whatever a column is called, the caller has named it.
#[test]
fn a_column_that_is_mapped_is_looked_at() {
    let messages = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]);
    for (field, column, expected) in [
        ("label", json!(false), "Invalid row: mine: false, so this is a bad answer"),
        ("images", json!(["a.png"]), "Invalid row: mine: harmony carries text only"),
    ] {
        let row = json!({"messages": messages, "mine": column});
        let options = RowOptions::new().with_format(RowFormat::Chat).with_map([(field, "mine")]);
        let batch = render(&encoding(), [row], &options);
        let error = batch.errors[0].1.to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn an_empty_conversation_has_nothing_to_train() {
    let batch = rendered(Conversation::default(), RowFormat::Harmony);
    assert_eq!(batch.errors[0].1.kind(), &openai_harmony::ErrorKind::NothingToTrain);
}
