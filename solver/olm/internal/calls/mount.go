package calls

import "slices"

// Mount mounts the certificate in a secret into the containers of a pod's spec, at
// the paths where operators look for it. Mounts that the spec itself has there are
// removed with their volumes: those secrets would never be created, and the pod would
// wait for them.
func Mount(pod map[string]any, secret string) {
	places := []struct{ volume, path, cert, key string }{
		{"apiservice-cert", "/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"},
		{"webhook-cert", "/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key"},
	}
	var gone []string // names of volumes
	for _, p := range places {
		gone = append(gone, p.volume)
		for _, c := range append(objects(pod["containers"]), objects(pod["initContainers"])...) {
			for _, m := range objects(c["volumeMounts"]) {
				if name, _ := m["name"].(string); m["mountPath"] == p.path {
					gone = append(gone, name)
				}
			}
		}
	}
	without := func(list any) []any {
		all, _ := list.([]any)
		return slices.DeleteFunc(slices.Clone(all), func(item any) bool {
			m, _ := item.(map[string]any)
			name, _ := m["name"].(string)
			return m != nil && slices.Contains(gone, name)
		})
	}
	volumes, mounts := without(pod["volumes"]), []any{}
	for _, p := range places {
		mounts = append(mounts, map[string]any{"name": p.volume, "mountPath": p.path})
		volumes = append(volumes, map[string]any{"name": p.volume, "secret": map[string]any{
			"secretName": secret, "defaultMode": 420,
			"items": []any{map[string]any{"key": "tls.crt", "path": p.cert}, map[string]any{"key": "tls.key", "path": p.key}},
		}})
	}
	pod["volumes"] = volumes
	for _, c := range objects(pod["containers"]) {
		c["volumeMounts"] = append(without(c["volumeMounts"]), mounts...)
	}
	for _, c := range objects(pod["initContainers"]) {
		if has, _ := c["volumeMounts"].([]any); len(without(has)) < len(has) {
			c["volumeMounts"] = append(without(has), mounts...)
		}
	}
}

// objects returns the elements of a list that are objects.
func objects(list any) []map[string]any {
	var found []map[string]any
	all, _ := list.([]any)
	for _, item := range all {
		if m, ok := item.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}
