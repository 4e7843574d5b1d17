//! Enums whose variants have one name each, the same for users, certificates and programs.

/// Defines an enum from a table of its variants and their names, with the list of all, the name of each, and
/// a lookup by name.
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
            /// All variants, in the order of the definition.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns the one spelling used everywhere.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Returns the variant of that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }
    };
}
