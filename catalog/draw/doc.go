// Package draw draws the updates in a package of a catalog: [SVG] as an image,
// [Mermaid] for Markdown pages, [DOT] for Graphviz. Equal catalogs give equal pictures.
package draw
