// Package edit makes catalogs from catalogs: [Filter] takes a part of one that
// is valid by itself, [Merge] joins several, [ConvertObjects] makes bundles
// smaller, and [NewPackage] begins a package. What is not changed stays byte for
// byte, and is not read.
//
// An [Editor] changes the files that authors keep: it adds and removes bundles,
// sets entries of channels and deprecates. It returns a [Patch] of the files,
// which leaves all else as it is, has been tried, and can be undone.
package edit
