//! A message as data.

use std::fmt;

use serde::{Serialize, Serializer};

use super::Words;

/// A sentence as data: the name of a message, and its values. Displayed and serialized it is in
/// English; [`Words::tell`] gives it in a reader's language.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    id: &'static str,
    values: Vec<(&'static str, Value)>,
}

/// A value in a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Text(String),
    Count(usize),
    Message(Message),
    /// Items of a list in the sentence.
    List(Vec<Message>),
}

impl Message {
    pub fn new(id: &'static str) -> Message {
        Message { id, values: Vec::new() }
    }

    /// What is in no catalogue, such as what a run file tells.
    pub fn verbatim(text: impl Into<String>) -> Message {
        Message::new("verbatim").with("text", text.into())
    }

    /// The message with this value in it.
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Message {
        self.values.push((name, value.into()));
        self
    }

    pub(super) fn id(&self) -> &'static str {
        self.id
    }

    pub(super) fn values(&self) -> &[(&'static str, Value)] {
        &self.values
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&Words::english().tell(self))
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Value {
        Value::Text(text.clone())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Value {
        Value::Count(count)
    }
}

impl From<Message> for Value {
    fn from(message: Message) -> Value {
        Value::Message(message)
    }
}

impl From<Vec<Message>> for Value {
    fn from(messages: Vec<Message>) -> Value {
        Value::List(messages)
    }
}
