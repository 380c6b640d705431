// Package template expands catalog templates: short descriptions of a catalog
// that name bundles by their images, into the documents of the catalog.
//
// [Parse] reads a template; [Template.Render] expands it, asking a [Renderer]
// of the caller's for every bundle that the template names. What a reference
// means, and where images come from, is the renderer's business: a registry, a
// directory of bundles (package catalog/bundle renders those), an older
// catalog.
//
// Three kinds of templates are known, told apart by their schema:
//
//   - olm.template.basic: a catalog whose bundles may be given by schema and
//     image alone.
//   - olm.semver: lists of bundles for candidate, fast and stable, from whose
//     versions channels and updates follow.
//   - olm.template.substitutes: a catalog, and bundles to take the place of
//     others in its channels.
//
// Everything that is wrong with a template is told at once, with the line and
// column in its file. Where the reference tool is at fault, this package is
// not compatible with it; docs/compatibility.md has the list.
package template
