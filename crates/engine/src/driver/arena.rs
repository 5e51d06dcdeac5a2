//! A slab whose keys are never reused.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use slab::Slab;

/// A key of an [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    index: usize,
    /// Distinguishes the item from later ones in the same slot.
    serial: u64,
}

/// Defines a key type, so that keys of different arenas cannot be confused.
macro_rules! key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($crate::driver::arena::Key);

        impl From<$crate::driver::arena::Key> for $name {
            fn from(key: $crate::driver::arena::Key) -> Self {
                $name(key)
            }
        }

        impl From<$name> for $crate::driver::arena::Key {
            fn from(key: $name) -> Self {
                key.0
            }
        }
    };
}
pub(crate) use key;

/// A slab with keys that are never reused.
#[derive(Debug)]
pub(crate) struct Arena<K, T> {
    /// Boxed, so that an arena that had many items keeps little memory for them.
    slab: Slab<(u64, Box<T>)>,
    inserted: u64,
    kind: PhantomData<K>,
}

impl<K, T> Default for Arena<K, T> {
    fn default() -> Self {
        Arena { slab: Slab::new(), inserted: 0, kind: PhantomData }
    }
}

impl<K: From<Key> + Into<Key>, T> Arena<K, T> {
    /// A number that stands for a key, and for no other one of this arena until four thousand million others.
    pub(crate) fn number(key: K) -> u64 {
        let Key { index, serial } = key.into();
        (index as u64) << 32 | (serial & u64::from(u32::MAX))
    }

    /// The key of an item for which this number stands.
    pub(crate) fn by_number(&self, number: u64) -> Option<K> {
        let index = (number >> 32) as usize;
        let &(serial, _) = self.slab.get(index)?;
        Some(Key { index, serial }.into()).filter(|_| serial as u32 == number as u32)
    }

    pub(crate) fn insert(&mut self, make: impl FnOnce(K) -> T) -> K {
        let Ok(key) = self.try_insert(|key| Ok::<_, Infallible>(make(key)));
        key
    }

    pub(crate) fn try_insert<E>(&mut self, make: impl FnOnce(K) -> Result<T, E>) -> Result<K, E> {
        self.inserted += 1;
        let entry = self.slab.vacant_entry();
        let key = Key { index: entry.key(), serial: self.inserted };
        entry.insert((self.inserted, Box::new(make(key.into())?)));
        Ok(key.into())
    }

    pub(crate) fn get(&self, key: K) -> Option<&T> {
        let key = key.into();
        self.slab.get(key.index).filter(|(serial, _)| *serial == key.serial).map(|(_, thing)| &**thing)
    }

    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut T> {
        let key = key.into();
        self.slab
            .get_mut(key.index)
            .filter(|(serial, _)| *serial == key.serial)
            .map(|(_, thing)| &mut **thing)
    }

    pub(crate) fn remove(&mut self, key: K) -> Option<T> {
        let key = key.into();
        self.slab.get(key.index).filter(|(serial, _)| *serial == key.serial)?;
        Some(*self.slab.remove(key.index).1)
    }

    pub(crate) fn len(&self) -> usize {
        self.slab.len()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = K> {
        self.slab.iter().map(|(index, &(serial, _))| Key { index, serial }.into())
    }
}

impl<K: From<Key> + Into<Key>, T> Index<K> for Arena<K, T> {
    type Output = T;
    fn index(&self, key: K) -> &T {
        self.get(key).unwrap_or_else(|| unreachable!("asked for only while it is there"))
    }
}

impl<K: From<Key> + Into<Key>, T> IndexMut<K> for Arena<K, T> {
    fn index_mut(&mut self, key: K) -> &mut T {
        self.get_mut(key).unwrap_or_else(|| unreachable!("asked for only while it is there"))
    }
}
