//! Single cases: what breaks, what is refused, and what a step has.

use openai_harmony::chat::{Author, Message, Role, SystemContent};
use openai_harmony::interop::{ReadOptions, Turn, chat_completions};
use openai_harmony::rollout::{Break, ExtendOptions, Extension, Rollout, SaidKind, Step};
use openai_harmony::{HeaderStyle, RenderConfig, ThoughtPolicy};
use serde_json::json;

use crate::{assistant, encoding, prompt, result, sampled, text, tokens, tools, user};

fn begun(options: ExtendOptions) -> Rollout {
    Rollout::new(encoding(), [user("2 + 2?")], options).unwrap()
}

/// Why a prompt that goes on is another; `None` if it is the same and more.
fn broken(
    prompt: &[u32],
    sampled: &str,
    new: &[Message],
    options: &ExtendOptions,
) -> Option<Break> {
    match encoding().extend(prompt, &tokens(sampled), new, options).unwrap() {
        Extension::Broken { reason, .. } => Some(reason),
        Extension::Extended { .. } => None,
    }
}

#[test]
fn a_content_that_was_cut_off_is_closed() {
    let prompt = prompt(&[user("2 + 2?")], RenderConfig::new());
    let cases = [
        ("<|channel|>final<|message|>Fo", "<|end|>"),
        ("<|channel|>commentary to=functions.f<|message|>{\"a", "<|call|>"),
    ];
    for (sampled, stop) in cases {
        let found = encoding()
            .extend(&prompt, &tokens(sampled), &[user("Go on")], &ExtendOptions::new())
            .unwrap();
        let Extension::Extended { added } = found else { unreachable!("{found:?}") };
        let expected = format!("{stop}<|start|>user<|message|>Go on<|end|><|start|>assistant");
        assert_eq!(text(&added), expected);
        // The stop token that was added is in the span of its message.
        let mut rollout = begun(ExtendOptions::new());
        rollout.sampled(&tokens(sampled), None).unwrap();
        assert_eq!(rollout.extend(&[user("Go on")]).unwrap(), None);
        let spans = rollout.segments()[0].spans();
        assert!(spans.windows(2).all(|pair| pair[0].end == pair[1].start), "{spans:?}");
    }
}

#[test]
fn a_prompt_with_a_prefill_goes_on() {
    let prompt =
        tokens("<|start|>user<|message|>?<|end|><|start|>assistant<|channel|>final<|message|>It");
    let config = ExtendOptions::new().with_keep_return(true);
    assert_eq!(broken(&prompt, " is 4.<|return|>", &[user("Sure?")], &config), None);
}

#[test]
fn a_header_that_was_cut_off_breaks() {
    let before = [user("2 + 2?")];
    let prompt = prompt(&before, RenderConfig::new());
    let sampled = tokens("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>");
    let found = encoding().extend(&prompt, &sampled, &[user("?")], &ExtendOptions::new()).unwrap();
    let Extension::Broken { reason, tokens } = found else { unreachable!("{found:?}") };
    assert_eq!(reason, Break::CutInHeader);
    let all = [&before[..], &[assistant("analysis", "Hm."), user("?")]].concat();
    assert_eq!(text(&tokens), text(&self::prompt(&all, RenderConfig::new())));
}

/// Malformed tokens before a question mean something else at the end of all.
#[test]
fn a_prompt_that_is_read_in_parts_means_what_the_whole_does() {
    let mut rollout = begun(ExtendOptions::new());
    for (sampled, new, broken) in [
        ("analysis<|start|>assistant", vec![], Some(Break::CutInHeader)),
        ("<|end|>__X<|start|>user<|message|>", vec![], None),
        ("<|channel|>final<|end|>", vec![user("?")], Some(Break::ThoughtsDropped)),
    ] {
        let found = self::broken(&rollout.prompt(), sampled, &new, &ExtendOptions::new());
        rollout.sampled(&tokens(sampled), None).unwrap();
        assert_eq!(rollout.extend(&new).unwrap(), broken);
        assert_eq!(found.is_some(), broken.is_some());
    }
}

/// An answer ends a turn, whatever follows it: the thoughts before it are dropped then.
#[test]
fn thoughts_are_dropped_after_an_answer() {
    let prompt = prompt(&[user("2 + 2?")], RenderConfig::new());
    let options = ExtendOptions::new().with_keep_return(true);
    let developer = Message::from_role_and_content(Role::Developer, "Be brief.");
    for (channel, expected) in [("final", Some(Break::ThoughtsDropped)), ("commentary", None)] {
        let said = format!(
            "<|channel|>analysis<|message|>Sum.<|end|><|start|>assistant<|channel|>{channel}<|message|>4<|return|>"
        );
        let new = std::slice::from_ref(&developer);
        assert_eq!(broken(&prompt, &said, new, &options), expected, "{channel}");
    }
}

/// A prompt may have more thoughts than the policy keeps: they are dropped once a turn ends.
#[test]
fn thoughts_of_the_prompt_stay_until_a_turn_ends() {
    let before =
        [user("2 + 2?"), assistant("analysis", "Sum."), assistant("final", "4"), user("And 3?")];
    let prompt = prompt(&before, RenderConfig::new().with_thoughts(ThoughtPolicy::Keep));
    let config = RenderConfig::new().with_thoughts(ThoughtPolicy::Drop);
    let options = ExtendOptions::new().with_config(config).with_keep_return(true);
    let call = "<|channel|>commentary to=functions.f<|message|>{}<|call|>";
    let preamble = "<|channel|>commentary<|message|>I add.<|end|>";
    let developer = Message::from_role_and_content(Role::Developer, "Be brief.");
    for (sampled, new, expected) in [
        (call, result("functions.f"), None),
        (preamble, developer.clone(), None),
        (preamble, user("?"), Some(Break::ThoughtsDropped)),
        ("<|channel|>final<|message|>5<|return|>", developer, Some(Break::ThoughtsDropped)),
    ] {
        assert_eq!(broken(&prompt, sampled, &[new], &options), expected, "{sampled}");
    }
}

#[test]
fn declaring_tools_breaks_where_the_system_message_must_say_so() {
    let tools = tools();
    let system = Message::from_role_and_content(Role::System, SystemContent::new());
    let config = RenderConfig::new().with_thoughts(ThoughtPolicy::Keep);
    let said = assistant("final", "Hi.");
    let extend = ExtendOptions::new().with_config(config).with_keep_return(true);
    let new = [tools.clone(), user("?")];

    let before = [system.clone(), user("Hi")];
    let found = encoding().extend(
        &prompt(&before, config),
        &sampled(std::slice::from_ref(&said), config),
        &new,
        &extend,
    );
    let all = [&before[..], std::slice::from_ref(&said), &new].concat();
    let expected = Extension::Broken { reason: Break::ToolsDeclared, tokens: prompt(&all, config) };
    assert_eq!(found.unwrap(), expected);

    let before = [system, tools, user("Hi")];
    let found = encoding()
        .extend(&prompt(&before, config), &sampled(&[said], config), &new, &extend)
        .unwrap();
    assert!(matches!(found, Extension::Extended { .. }), "{found:?}");
}

#[test]
fn what_cannot_go_on_is_refused() {
    let open = "<|start|>user<|message|>2 + 2?<|end|><|start|>assistant";
    let answer = "<|channel|>final<|message|>4<|return|>";
    let calls = "<|channel|>commentary to=functions.f<|message|>{}<|call|>";
    let goes_on = [calls, "x"].concat();
    let begins = [answer, "<|start|>"].concat();
    let closed = "prompt: does not end with an open message of the assistant";
    let none: &[Message] = &[];
    for (prompt, sampled, messages, expected) in [
        ("", answer, none, closed),
        ("Hello", answer, none, closed),
        ("<|start|>user<|message|>2 + 2?<|end|>", answer, none, closed),
        ("<|start|>user", answer, none, closed),
        (open, "", none, "sampled: has no tokens"),
        (open, &goes_on, none, "sampled[10]: follows <|call|>, where sampling stops"),
        (open, &begins, none, "sampled[5]: follows <|return|>, where sampling stops"),
        (
            open,
            calls,
            &[result("functions.g")],
            "messages[0]: no pending call to \"functions.g\" (pending: functions.f)",
        ),
        (
            open,
            answer,
            &[user("?"), result("functions.f")],
            "messages[1]: no pending call to \"functions.f\" (pending: none)",
        ),
        (
            open,
            answer,
            &[assistant("final", "5")],
            "messages[0]: is a message of the assistant, which must be sampled",
        ),
    ] {
        let (prompt, sampled) = (tokens(prompt), tokens(sampled));
        let found = encoding().extend(&prompt, &sampled, messages, &ExtendOptions::new());
        assert_eq!(found.unwrap_err().to_string(), format!("Invalid rollout: {expected}"));
    }
    let found = encoding().extend(&tokens(open), &[17, 201_089], none, &ExtendOptions::new());
    let expected = "Invalid rollout: sampled[1]: 201089 is not a token id";
    assert_eq!(found.unwrap_err().to_string(), expected);
}

#[test]
fn an_error_leaves_the_rollout_as_it_was() {
    let mut rollout = begun(ExtendOptions::new());
    let answer = tokens("<|channel|>final<|message|>4<|return|>");
    let before = rollout.prompt();
    let refuse = |error: openai_harmony::Error, expected: &str| {
        assert_eq!(error.to_string(), format!("Invalid rollout: {expected}"));
    };
    refuse(
        rollout.extend(&[user("?")]).unwrap_err(),
        "messages: nothing was sampled from this prompt yet",
    );
    refuse(rollout.sampled(&[], None).unwrap_err(), "sampled: has no tokens");
    refuse(rollout.sampled(&answer, Some(&[0.0])).unwrap_err(), "logprobs: 1 for 5 tokens");
    assert_eq!(rollout.prompt(), before);
    rollout.sampled(&answer, None).unwrap();
    refuse(
        rollout.sampled(&answer, None).unwrap_err(),
        "sampled: this prompt was sampled from; extend it first",
    );
    let after = (rollout.prompt(), rollout.messages().len());
    refuse(
        rollout.extend(&[result("functions.f")]).unwrap_err(),
        "messages[0]: no pending call to \"functions.f\" (pending: none)",
    );
    assert_eq!((rollout.prompt(), rollout.messages().len()), after);
    assert_eq!(rollout.extend(&[user("And 3?")]).unwrap(), Some(Break::ReturnSampled));
    assert_eq!(rollout.segments().len(), 2);
}

#[test]
fn every_call_of_a_step_may_be_answered() {
    let call = |name: &str| {
        format!("<|channel|>commentary to=functions.{name}<|message|>{{}}<|end|><|start|>assistant")
    };
    let last = "<|channel|>commentary to=functions.g<|message|>{}<|call|>";
    let sampled = tokens(&[call("f"), call("f"), last.to_owned()].concat());
    let results = ["functions.g", "functions.f", "functions.f"].map(result);
    let extend = |sampled: &[u32], results: &[Message]| {
        let prompt = prompt(&[user("2 + 2?")], RenderConfig::new());
        encoding().extend(&prompt, sampled, results, &ExtendOptions::new())
    };
    assert!(extend(&sampled, &results).is_ok());
    let refused =
        |sampled: &[u32], results: &[Message]| extend(sampled, results).unwrap_err().to_string();
    let more = [&results[..], &[result("functions.f")]].concat();
    assert!(
        refused(&sampled, &more)
            .ends_with("messages[3]: no pending call to \"functions.f\" (pending: none)")
    );
    let behind = [result("functions.g"), user("?"), result("functions.f")];
    assert!(refused(&sampled, &behind).contains("messages[2]: no pending call to"));
    let answered =
        tokens(&[call("f"), "<|channel|>final<|message|>4<|return|>".to_owned()].concat());
    assert!(
        refused(&answered, &[result("functions.f")]).contains("messages[0]: no pending call to")
    );
}

#[test]
fn a_step_says_what_was_sampled() {
    let mut rollout = begun(ExtendOptions::new());
    let sampled = tokens(
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|>\
         <|start|>assistant<|channel|>commentary to=functions.f<|message|>{\"a\":",
    );
    let step = rollout.sampled(&sampled, None).unwrap();
    let kinds: Vec<_> = step.said.iter().map(|said| (said.kind, said.is_complete)).collect();
    assert_eq!(
        kinds,
        [(SaidKind::Thought, true), (SaidKind::Preamble, true), (SaidKind::Call, false)]
    );
    let contents: Vec<_> =
        step.said.iter().map(|said| text(&sampled[said.span.content_tokens()])).collect();
    assert_eq!(contents, ["Hm.", "I look.", "{\"a\":"]);
    assert_eq!((step.said[0].span.start, step.said[2].span.end), (0, sampled.len()));
    assert!(!step.is_complete() && step.thought_closed() && step.stop_token.is_none());

    let mut rollout = begun(ExtendOptions::new());
    let step = rollout.sampled(&tokens("<|channel|>analysis<|message|>Hm"), None).unwrap();
    assert!(!step.thought_closed());
}

#[test]
fn branches_go_their_own_ways() {
    let config = ExtendOptions::new().with_keep_return(true);
    let mut one = begun(config);
    let mut other = one.clone();
    one.sampled(&tokens("<|channel|>final<|message|>4<|return|>"), None).unwrap();
    other.sampled(&tokens("<|channel|>final<|message|>5<|return|>"), None).unwrap();
    one.extend(&[user("?")]).unwrap();
    assert!(text(&one.prompt()).contains("4<|return|><|start|>user<|message|>?"));
    assert!(text(&other.prompt()).ends_with("5<|return|>"));
}

/// Whether each message of a sample waits, and what it ends with.
fn waits(sampled: &str) -> (Vec<bool>, Option<u32>) {
    let step = Step::read(encoding(), &[], &tokens(sampled), &[]).unwrap();
    (step.said.iter().map(|said| said.is_waiting).collect(), step.stop_token)
}

#[test]
fn a_call_waits_until_the_model_continues_without_its_result() {
    let call = "<|channel|>commentary to=functions.f<|message|>{}";
    let next = "<|end|><|start|>assistant";
    let invented = "<|end|><|start|>functions.f to=assistant<|channel|>commentary<|message|>3";
    for (rest, expected) in [
        ("<|call|>".to_owned(), &[true][..]),
        (String::new(), &[true]),
        (format!("{next}<|channel|>final<|message|>3<|return|>"), &[false, false]),
        (format!("{next}<|channel|>analysis<|message|>3"), &[false, false]),
        (format!("{next}<|channel|>analysis<|message|>3{next}{call}"), &[true, false, true]),
        (format!("{invented}<|end|>"), &[false, false]),
        (format!("{invented}{next}{call}<|call|>"), &[false, false, true]),
        (format!("{next}{call}{invented}"), &[false, true, false]),
        ("<|end|><|start|>user<|message|>?<|end|>".to_owned(), &[false, false]),
    ] {
        assert_eq!(waits(&format!("{call}{rest}")).0, expected, "{rest}");
    }
    for nobody in ["assistant", "all"] {
        let sampled = format!("<|channel|>commentary to={nobody}<|message|>{{}}<|end|>");
        assert_eq!(waits(&sampled).0, [false], "{nobody}");
    }
}

#[test]
fn a_result_answers_the_call_of_its_name_first() {
    let call = |name: &str| format!("<|channel|>commentary to={name}<|message|>{{}}");
    let sampled = tokens(
        &[&call("functions.bash"), "<|end|><|start|>assistant", &call("functions"), "<|call|>"]
            .concat(),
    );
    let prompt = prompt(&[user("?")], RenderConfig::new());
    for names in [["functions", "functions.bash"], ["functions.bash", "functions"]] {
        let extended =
            encoding().extend(&prompt, &sampled, &names.map(result), &ExtendOptions::new());
        assert!(matches!(extended, Ok(Extension::Extended { .. })), "{extended:?}");
    }
}

/// Only what the caller gives is checked: its own fields, not those that a result has from its call.
#[test]
fn what_was_sampled_is_written_as_it_was_read() {
    let config = ExtendOptions::new().with_config(RenderConfig::new().with_validate(true));
    let mut rollout = begun(config);
    rollout.sampled(&tokens("<|channel|>final json<|message|>{}<|return|>"), None).unwrap();
    let unsafe_name = Message::from_author_and_content(Author::new(Role::User, "a b"), "?");
    let refused = rollout.extend(&[user("?"), unsafe_name]).unwrap_err().to_string();
    assert!(refused.starts_with("Unsafe name \"a b\""), "{refused}");
    assert!(refused.ends_with("(in messages[1])"), "{refused}");
    assert_eq!(rollout.extend(&[user("?")]).unwrap(), Some(Break::ReturnSampled));
    assert!(text(&rollout.prompt()).contains("<|channel|>final json<|message|>{}<|end|>"));
    let step = rollout
        .sampled(&tokens("<|channel|>commentary? to=to=f<|message|>{}<|call|>"), None)
        .unwrap();
    let [call] = &step.said[..] else { unreachable!("{step:?}") };
    let name = call.message.recipient.as_deref().unwrap();
    let answer = |channel: &str| result(name).with_channel(channel);
    let refused = rollout.extend(&[answer("a b")]).unwrap_err().to_string();
    assert!(refused.starts_with("Unsafe channel \"a b\""), "{refused}");
    rollout.extend(&[answer("commentary")]).unwrap();
}

#[test]
fn a_sample_that_is_cut_inside_a_character_breaks_as_that() {
    let person = tokens("\u{1F937}\u{1F3FD}");
    for (before, expected) in [
        ("<|channel|>final<|message|>Hi ", Some(Break::CutInCharacter)),
        ("<|channel|>commentary to=functions.f<|message|>{", Some(Break::CutInCharacter)),
        ("<|channel|>", Some(Break::CutInHeader)),
    ] {
        for (cut, expected) in [(1, expected), (person.len() - 1, expected)] {
            let mut rollout = begun(ExtendOptions::new());
            let step =
                rollout.sampled(&[&tokens(before)[..], &person[..cut]].concat(), None).unwrap();
            assert_eq!(step.stop_token, None);
            assert_eq!(rollout.extend(&[user("?")]).unwrap(), expected, "{before}");
        }
    }
    let mut rollout = begun(ExtendOptions::new());
    rollout.sampled(&[tokens("<|channel|>final<|message|>"), person].concat(), None).unwrap();
    assert_eq!(rollout.extend(&[user("?")]).unwrap(), None);
}

#[test]
fn a_step_has_the_stop_token_wherever_it_is() {
    for (sampled, stop) in [
        ("<|channel|>final Hi<|return|>", Some(200_002)),
        ("<|channel|>final<|return|>", Some(200_002)),
        ("functions.get f<|channel|>final<|call|>", Some(200_012)),
        ("<|channel|>final<|message|>Hi<|end|>", Some(200_007)),
        ("<|channel|>final<|message|>Hi", None),
    ] {
        assert_eq!(waits(sampled).1, stop, "{sampled}");
        let mut rollout = begun(ExtendOptions::new());
        let step = rollout.sampled(&tokens(sampled), None).unwrap();
        assert_eq!(step.is_complete(), stop.is_some_and(|stop| stop != 200_007), "{sampled}");
    }
}

#[test]
fn options_of_a_turn_have_what_it_has() {
    let body = json!({"messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "f"}}]});
    let config = Turn::default_config().with_header_style(HeaderStyle::RecipientInRole);
    let turn = chat_completions::read(&body, &ReadOptions::new().with_config(config)).unwrap();
    let expected = ExtendOptions::new().with_config(config).with_tools(["functions.f"]);
    assert_eq!(ExtendOptions::of_turn(&turn), expected);
}

#[test]
fn an_invented_result_that_is_cut_off_is_no_call() {
    let sampled = tokens(
        "<|channel|>final<|message|>.<|end|><|start|>functions.f to=assistant<|channel|>commentary<|message|>3",
    );
    let prompt = prompt(&[user("?")], RenderConfig::new());
    let Ok(Extension::Extended { added }) =
        encoding().extend(&prompt, &sampled, &[], &ExtendOptions::new())
    else {
        unreachable!("extended")
    };
    assert_eq!(text(&added), "<|end|><|start|>assistant");
}

/// Without a system message there is nothing that must announce tools.
#[test]
fn declaring_tools_without_a_system_message_breaks_nothing() {
    let extend = ExtendOptions::new().with_keep_return(true);
    let before = [user("Hi")];
    let prompt = prompt(&before, RenderConfig::new());
    let sampled = tokens("<|channel|>final<|message|>Hi.<|end|>");
    let found = encoding().extend(&prompt, &sampled, &[tools()], &extend).unwrap();
    let mut rollout = Rollout::new(encoding(), before, extend).unwrap();
    rollout.sampled(&sampled, None).unwrap();
    assert_eq!(rollout.extend(&[tools()]).unwrap(), None);
    assert!(matches!(found, Extension::Extended { .. }), "{found:?}");
}

#[test]
fn repairs_of_a_step_are_where_they_were_sampled() {
    let spans = |prompt: &str, sampled: &str| {
        let step = Step::read(encoding(), &tokens(prompt), &tokens(sampled), &[]).unwrap();
        step.repairs.into_iter().map(|repair| (repair.kind.name(), repair.span)).collect::<Vec<_>>()
    };
    let malformed = "<|channel|>final Hi<|return|>";
    assert_eq!(spans("<|start|>assistant", malformed), [("missing_message", 2..3)]);
    // Behind what the prompt has of the message, and behind other messages of the sample.
    let begun = "<|start|>assistant<|channel|>final<|message|>It";
    let sampled = [" is.<|end|><|start|>assistant", malformed].concat();
    let before = tokens(" is.<|end|><|start|>assistant").len();
    assert_eq!(spans(begun, &sampled), [("missing_message", before + 2..before + 3)]);
}

#[test]
fn to_everybody_is_no_call() {
    for (channel, kind) in [
        ("final", SaidKind::Answer),
        ("analysis", SaidKind::Thought),
        ("commentary", SaidKind::Preamble),
    ] {
        let sampled = tokens(&format!("<|channel|>{channel} to=all<|message|>a<|end|>"));
        let step = Step::read(encoding(), &[], &sampled, &[]).unwrap();
        assert_eq!((step.said[0].kind, step.said[0].is_waiting), (kind, false), "{channel}");
    }
}
