// Package edit makes catalogs from catalogs: [Filter] takes a part of one that
// is valid by itself, [Merge] joins several, [ConvertObjects] makes bundles
// smaller, and [NewPackage] begins a package. What is not changed stays byte for
// byte, and is not read.
package edit
