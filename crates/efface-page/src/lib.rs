//! What people read of efface: one model of pages, and how they become text or HTML.
//!
//! A [`Page`] is a title and sections of facts, tables, lists and figures. [`Page::text`] lays it out for a
//! terminal, [`Page::document`] and [`Page::fragment`] for a browser and a notebook. Numbers are rounded in
//! [`number`], claims and certificates are put into words in [`words`] and [`certificate`], and nowhere else.
//!
//! ```
//! use efface_page::{Page, Section};
//!
//! let page = Page::new("model.efface: version 2")
//!     .with(Section::new("").facts([("records", "95"), ("named", "by the ids of the table")]));
//! assert_eq!(
//!     page.text(),
//!     "model.efface: version 2\nrecords    95\nnamed      by the ids of the table\n"
//! );
//! assert!(page.document().contains("<th scope=\"row\">records</th><td>95</td>"));
//! ```
#![forbid(unsafe_code)]

pub mod certificate;
mod html;
mod model;
pub mod number;
mod text;
pub mod words;

pub use efface_privacy::quantity::Decimal;
pub use model::{Item, Page, Section, Table, Tone};
pub use text::{WIDTH, csv_cell, wrapped};
