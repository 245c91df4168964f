//! The data model of a conversation and its JSON form. Data only: no behaviour lives here.
//!
//! A [`Conversation`] is a list of [`Message`]s. A message has an [`Author`], a list of
//! [`Content`] parts, and three optional header fields: channel, recipient and content type
//! (guide, section "Message format").
//!
//! ```
//! use openai_harmony::chat::{Message, Role};
//!
//! let call = Message::from_role_and_content(Role::Assistant, r#"{"location":"Tokyo"}"#)
//!     .with_channel("commentary")
//!     .with_recipient("functions.get_current_weather")
//!     .with_content_type("<|constrain|>json");
//! assert_eq!(
//!     serde_json::to_string(&call).unwrap(),
//!     r#"{"role":"assistant","recipient":"functions.get_current_weather","content":"{\"location\":\"Tokyo\"}","channel":"commentary","content_type":"<|constrain|>json"}"#,
//! );
//! ```

mod channels;
mod content;
mod conversation;
pub(crate) mod fields;
mod message;
pub(crate) mod tools;

pub(crate) use channels::{ANALYSIS, CHANNELS, COMMENTARY, FINAL};
pub use content::{
    ChannelConfig, Content, DeveloperContent, ReasoningEffort, ResponseFormat, SystemContent,
    TextContent,
};
pub use conversation::Conversation;
pub(crate) use fields::HeaderFields;
pub use message::{Author, Message, Role};
pub(crate) use tools::{BROWSER, BUILT_IN, FUNCTIONS, PYTHON};
pub use tools::{ToolDescription, ToolNamespaceConfig};
