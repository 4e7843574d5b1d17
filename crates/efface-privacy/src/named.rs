//! Enums whose variants have one name each, the same for users, certificates and programs.

/// Defines an enum from a table of its variants and their names, with the list of all, the name of each, and the one
/// of a name.
#[macro_export]
macro_rules! named {
    ($(#[$attribute:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$attribute])*
        pub enum $name {
            $($(#[$about])* $variant,)+
        }

        impl $name {
            /// Every one, in the order of the definition.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The one spelling used everywhere.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The one of that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }
    };
}
