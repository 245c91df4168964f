//! Tools that clients run and that a body names only by type, as functions. The arguments have the names that the
//! clients' own code reads.

use serde_json::{Value as Tree, json};

use crate::interop::field::BodyObject;

/// The function for a tool's type.
pub(super) struct ClientTool {
    pub(super) description: String,
    pub(super) parameters: Tree,
}

/// The members of such tools that tell the client how to run them.
pub(super) const SETTINGS: &[&str] =
    &["max_characters", "display_width_px", "display_height_px", "display_number", "enable_zoom"];

/// The tool of a type: `bash_20250124`.
pub(super) fn of_type(kind: &str, tool: &BodyObject<'_, '_>) -> Option<ClientTool> {
    let (name, version) = kind.rsplit_once('_')?;
    if version.len() != 8 || !version.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(match name {
        "bash" => bash(),
        "text_editor" => text_editor(version),
        "memory" => memory(),
        "computer" => computer(version, tool),
        _ => return None,
    })
}

fn text(description: &str) -> Tree {
    json!({"type": "string", "description": description})
}

fn object(properties: &Tree, required: &[&str]) -> Tree {
    json!({"type": "object", "properties": properties, "required": required})
}

fn bash() -> ClientTool {
    ClientTool {
        description: "Runs a command in a bash session that lasts for the conversation.".to_owned(),
        parameters: object(
            &json!({
                "command": text("The command; required unless `restart` is true."),
                "restart": {"type": "boolean", "description": "Starts a new session."},
            }),
            &[],
        ),
    }
}

/// The last version that has `undo_edit`, and `new_str` as the text of `insert`.
const OLD_EDITOR: &str = "20250124";

fn text_editor(version: &str) -> ClientTool {
    let is_old = version <= OLD_EDITOR;
    let mut commands = vec!["view", "create", "str_replace", "insert"];
    commands.extend(is_old.then_some("undo_edit"));
    let mut properties = json!({
        "command": {"type": "string", "enum": commands},
        "path": text("The absolute path of a file or a directory."),
        "file_text": text("create: the content of the new file."),
        "old_str": text("str_replace: the text to replace, which the file has exactly once."),
        "new_str": text(if is_old {
            "str_replace, insert: the new text."
        } else {
            "str_replace: the text in its place."
        }),
        "insert_line": {
            "type": "integer",
            "description": "insert: the line after which the text is inserted; 0 is the beginning.",
        },
        "view_range": lines(),
    });
    if !is_old {
        properties["insert_text"] = text("insert: the text to insert.");
    }
    ClientTool {
        description: "Views, creates and changes text files.".to_owned(),
        parameters: object(&properties, &["command", "path"]),
    }
}

fn lines() -> Tree {
    json!({
        "type": "array",
        "items": {"type": "integer"},
        "description": "view: the first and the last line, from 1; -1 is the end of the file.",
    })
}

fn memory() -> ClientTool {
    let commands = ["view", "create", "str_replace", "insert", "delete", "rename"];
    ClientTool {
        description: "Keeps files under /memories from one conversation to the next. View the directory before you \
                      begin, and write down what a later conversation needs."
            .to_owned(),
        parameters: object(
            &json!({
                "command": {"type": "string", "enum": commands},
                "path": text("A file or directory under /memories; of all commands but rename."),
                "file_text": text("create: the content of the file."),
                "old_str": text("str_replace: the text to replace."),
                "new_str": text("str_replace: the text in its place."),
                "insert_line": {"type": "integer", "description": "insert: the line after which the text is inserted."},
                "insert_text": text("insert: the text to insert."),
                "view_range": lines(),
                "old_path": text("rename: the path so far."),
                "new_path": text("rename: the new path."),
            }),
            &["command"],
        ),
    }
}

/// The first version that scrolls, drags and waits, and the first that can zoom.
const MORE_ACTIONS: &str = "20250124";
const ZOOM: &str = "20251124";

fn computer(version: &str, tool: &BodyObject<'_, '_>) -> ClientTool {
    let mut actions = vec![
        "key",
        "type",
        "mouse_move",
        "left_click",
        "left_click_drag",
        "right_click",
        "middle_click",
        "double_click",
        "screenshot",
        "cursor_position",
    ];
    if version >= MORE_ACTIONS {
        actions.extend([
            "left_mouse_down",
            "left_mouse_up",
            "scroll",
            "hold_key",
            "wait",
            "triple_click",
        ]);
    }
    let zooms = tool.bool("enable_zoom").ok().flatten().unwrap_or(false);
    actions.extend((version >= ZOOM && zooms).then_some("zoom"));
    let numbers = |description| json!({"type": "array", "items": {"type": "integer"}, "description": description});
    let mut properties = json!({
        "action": {"type": "string", "enum": actions},
        "coordinate": numbers("[x, y] in pixels from the left and the top: where to click, move, drag to or scroll."),
        "text": text("type: the text; key, hold_key: the keys, as ctrl+s; of clicks: the keys that are held."),
    });
    if version >= MORE_ACTIONS {
        properties["start_coordinate"] = numbers("left_click_drag: [x, y] where it begins.");
        properties["duration"] =
            json!({"type": "number", "description": "hold_key, wait: how many seconds."});
        let directions = ["up", "down", "left", "right"];
        properties["scroll_direction"] = json!({"type": "string", "enum": directions});
        properties["scroll_amount"] =
            json!({"type": "integer", "description": "scroll: how many clicks of the wheel."});
    }
    if zooms {
        properties["region"] = numbers("zoom: [x0, y0, x1, y1] of the part of the screen.");
    }
    let pixels = |key| tool.number(key).ok().flatten();
    let size = pixels("display_width_px").zip(pixels("display_height_px"));
    let size = size.map_or(String::new(), |(width, height)| {
        format!(" Its screen has {width} times {height} pixels.")
    });
    ClientTool {
        description: format!("Uses a computer by its mouse, keyboard and screen.{size}"),
        parameters: object(&properties, &["action"]),
    }
}
