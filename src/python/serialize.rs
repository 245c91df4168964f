//! What serde can write, as Python's dicts, lists and scalars.

use std::fmt;
use std::sync::OnceLock;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};
use serde::ser::{self, Serialize};

use crate::json::Digits;

type Object<'py> = Bound<'py, PyAny>;

/// A value as its Python object: what `json.loads` makes of its JSON.
pub(super) fn to_python<'py, T: Serialize + ?Sized>(
    py: Python<'py>,
    value: &T,
) -> PyResult<Object<'py>> {
    value.serialize(Writer { py }).map_err(|error| error.0)
}

/// What Python raised, or what JSON cannot say.
#[derive(Debug)]
struct Failed(PyErr);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failed {}

impl ser::Error for Failed {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(PyTypeError::new_err(message.to_string()))
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

type Written<'py> = Result<Object<'py>, Failed>;

#[derive(Clone, Copy)]
struct Writer<'py> {
    py: Python<'py>,
}

/// The strings of fields' names, each in the slot of its address: what a streamed chunk takes is half
/// of what it takes with names made again. The first name of a slot stays.
static NAMES: [OnceLock<(usize, Py<PyString>)>; 512] = [const { OnceLock::new() }; 512];

/// A field's name.
fn name<'py>(py: Python<'py>, name: &'static str) -> Bound<'py, PyString> {
    let address = name.as_ptr().addr();
    // Equal ends of names may share their memory.
    let key = address ^ (name.len() << 48);
    let slot = &NAMES[(key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) % NAMES.len()];
    let (of, string) = slot.get_or_init(|| (key, PyString::intern(py, name).unbind()));
    if *of == key { string.bind(py).clone() } else { PyString::intern(py, name) }
}

/// A list under way.
struct ListWriter<'py> {
    list: Bound<'py, PyList>,
}

/// A dict under way.
struct DictWriter<'py> {
    dict: Bound<'py, PyDict>,
    key: Option<Object<'py>>,
}

impl<'py> Writer<'py> {
    fn object(self, value: impl IntoPyObjectExt<'py>) -> Written<'py> {
        Ok(value.into_bound_py_any(self.py)?)
    }

    /// What Python makes of a number's text. Its integers have no end, and serde has no name for such.
    fn number(self, digits: &str) -> PyResult<Object<'py>> {
        if let Ok(integer) = digits.parse::<i64>() {
            return integer.into_bound_py_any(self.py);
        }
        if digits.contains(['.', 'e', 'E']) {
            return digits.parse::<f64>()?.into_bound_py_any(self.py);
        }
        self.py.get_type::<PyInt>().call1((digits,))
    }

    fn dict(self) -> DictWriter<'py> {
        DictWriter { dict: PyDict::new(self.py), key: None }
    }
}

/// No type of this crate's has such a part.
fn unknown<T>(what: &str) -> Result<T, Failed> {
    Err(ser::Error::custom(format!("JSON has no {what}")))
}

macro_rules! plain {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Written<'py> {
            self.object(value)
        })*
    };
}

impl<'py> ser::Serializer for Writer<'py> {
    type Ok = Object<'py>;
    type Error = Failed;
    type SerializeSeq = ListWriter<'py>;
    type SerializeTuple = ListWriter<'py>;
    type SerializeTupleStruct = ListWriter<'py>;
    type SerializeTupleVariant = ser::Impossible<Object<'py>, Failed>;
    type SerializeMap = DictWriter<'py>;
    type SerializeStruct = DictWriter<'py>;
    type SerializeStructVariant = ser::Impossible<Object<'py>, Failed>;

    plain! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_str: &str,
    }

    fn serialize_bytes(self, _: &[u8]) -> Written<'py> {
        unknown("bytes")
    }

    fn serialize_none(self) -> Written<'py> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written<'py> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written<'py> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written<'py> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &str, _: u32, variant: &'static str) -> Written<'py> {
        self.object(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Written<'py> {
        if Digits::is_type(name) {
            let digits = serde_json::to_string(value).map_err(<Failed as ser::Error>::custom)?;
            return Ok(self.number(&digits)?);
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Written<'py> {
        unknown(variant)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<ListWriter<'py>, Failed> {
        Ok(ListWriter { list: PyList::empty(self.py) })
    }

    fn serialize_tuple(self, length: usize) -> Result<ListWriter<'py>, Failed> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        length: usize,
    ) -> Result<ListWriter<'py>, Failed> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Failed> {
        unknown(variant)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<DictWriter<'py>, Failed> {
        Ok(self.dict())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<DictWriter<'py>, Failed> {
        Ok(self.dict())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Failed> {
        unknown(variant)
    }
}

impl ListWriter<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let item = value.serialize(Writer { py: self.list.py() })?;
        Ok(self.list.append(item)?)
    }
}

impl<'py> ser::SerializeSeq for ListWriter<'py> {
    type Ok = Object<'py>;
    type Error = Failed;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.push(value)
    }

    fn end(self) -> Written<'py> {
        Ok(self.list.into_any())
    }
}

impl<'py> ser::SerializeTuple for ListWriter<'py> {
    type Ok = Object<'py>;
    type Error = Failed;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.push(value)
    }

    fn end(self) -> Written<'py> {
        Ok(self.list.into_any())
    }
}

impl<'py> ser::SerializeTupleStruct for ListWriter<'py> {
    type Ok = Object<'py>;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.push(value)
    }

    fn end(self) -> Written<'py> {
        Ok(self.list.into_any())
    }
}

impl<'py> ser::SerializeMap for DictWriter<'py> {
    type Ok = Object<'py>;
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failed> {
        self.key = Some(key.serialize(Writer { py: self.dict.py() })?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let value = value.serialize(Writer { py: self.dict.py() })?;
        match self.key.take() {
            Some(key) => Ok(self.dict.set_item(key, value)?),
            None => unknown("value without a key"),
        }
    }

    fn end(self) -> Written<'py> {
        Ok(self.dict.into_any())
    }
}

impl<'py> ser::SerializeStruct for DictWriter<'py> {
    type Ok = Object<'py>;
    type Error = Failed;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        let py = self.dict.py();
        let value = value.serialize(Writer { py })?;
        Ok(self.dict.set_item(name(py, key), value)?)
    }

    fn end(self) -> Written<'py> {
        Ok(self.dict.into_any())
    }
}
