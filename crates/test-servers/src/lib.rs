//! Servers that behave by script, to hold the load engine to what it should see:
//!
//! - [`scripted::ScriptedServer`] answers after scripted delays and counts exactly what it did;
//! - [`faults::FaultInjectionServer`] misbehaves in some hundred scripted ways.
//!
//! Each is a program of its own and can also be started inside a test. Nothing that ships depends on them; what
//! reads requests and writes answers is the null server's.

mod alarm;
pub mod faults;
pub mod script;
pub mod scripted;
