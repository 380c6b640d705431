// Package edit changes catalogs. [Filter] extracts a valid part of one, [Merge] merges
// several, [ConvertObjects] makes bundles smaller, and [NewPackage] creates a package.
// What does not change stays the same, byte for byte, and is not read.
//
// An [Editor] changes the files that authors keep: it adds, removes and deprecates
// bundles, and sets entries of channels. It returns a [Patch] of the files, which
// changes nothing else, has been tried, and can be undone.
package edit
