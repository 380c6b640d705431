package bundle

import "github.com/fairlead/fairlead/internal/doc"

// deploymentTypes has the types of what deployments and their pods usually
// state and [Deployment] does not decode, so that values of a wrong type are
// found: an API server and the reference reject them.
type deploymentTypes struct {
	Replicas                *int32         `json:"replicas"`
	MinReadySeconds         int32          `json:"minReadySeconds"`
	RevisionHistoryLimit    *int32         `json:"revisionHistoryLimit"`
	ProgressDeadlineSeconds *int32         `json:"progressDeadlineSeconds"`
	Paused                  bool           `json:"paused"`
	Selector                *labelSelector `json:"selector"`
	Strategy                struct {
		Type          string `json:"type"`
		RollingUpdate struct {
			MaxSurge       *doc.Value `json:"maxSurge"`
			MaxUnavailable *doc.Value `json:"maxUnavailable"`
		} `json:"rollingUpdate"`
	} `json:"strategy"`
	Template struct {
		Metadata Metadata `json:"metadata"`
		Spec     podTypes `json:"spec"`
	} `json:"template"`
}

type labelSelector struct {
	MatchLabels      map[string]string `json:"matchLabels"`
	MatchExpressions []struct {
		Key      string   `json:"key"`
		Operator string   `json:"operator"`
		Values   []string `json:"values"`
	} `json:"matchExpressions"`
}

type podTypes struct {
	Containers                    []containerTypes  `json:"containers"`
	InitContainers                []containerTypes  `json:"initContainers"`
	NodeSelector                  map[string]string `json:"nodeSelector"`
	NodeName                      string            `json:"nodeName"`
	PriorityClassName             string            `json:"priorityClassName"`
	RestartPolicy                 string            `json:"restartPolicy"`
	DNSPolicy                     string            `json:"dnsPolicy"`
	SchedulerName                 string            `json:"schedulerName"`
	HostNetwork                   bool              `json:"hostNetwork"`
	HostPID                       bool              `json:"hostPID"`
	HostIPC                       bool              `json:"hostIPC"`
	TerminationGracePeriodSeconds *int64            `json:"terminationGracePeriodSeconds"`
	AutomountServiceAccountToken  *bool             `json:"automountServiceAccountToken"`
	Affinity                      struct{}          `json:"affinity"`
	SecurityContext               struct {
		RunAsUser    *int64 `json:"runAsUser"`
		RunAsGroup   *int64 `json:"runAsGroup"`
		RunAsNonRoot *bool  `json:"runAsNonRoot"`
		FSGroup      *int64 `json:"fsGroup"`
	} `json:"securityContext"`
	ImagePullSecrets []struct {
		Name string `json:"name"`
	} `json:"imagePullSecrets"`
	Tolerations []struct {
		Key               string `json:"key"`
		Operator          string `json:"operator"`
		Value             string `json:"value"`
		Effect            string `json:"effect"`
		TolerationSeconds *int64 `json:"tolerationSeconds"`
	} `json:"tolerations"`
}

type containerTypes struct {
	Command                  []string `json:"command"`
	Args                     []string `json:"args"`
	WorkingDir               string   `json:"workingDir"`
	ImagePullPolicy          string   `json:"imagePullPolicy"`
	TerminationMessagePath   string   `json:"terminationMessagePath"`
	TerminationMessagePolicy string   `json:"terminationMessagePolicy"`
	TTY                      bool     `json:"tty"`
	Stdin                    bool     `json:"stdin"`
	Ports                    []struct {
		Name          string `json:"name"`
		ContainerPort int32  `json:"containerPort"`
		HostPort      int32  `json:"hostPort"`
		Protocol      string `json:"protocol"`
	} `json:"ports"`
	EnvFrom        []struct{} `json:"envFrom"`
	LivenessProbe  probeTypes `json:"livenessProbe"`
	ReadinessProbe probeTypes `json:"readinessProbe"`
	StartupProbe   probeTypes `json:"startupProbe"`
	Lifecycle      struct{}   `json:"lifecycle"`
	VolumeMounts   []struct {
		ReadOnly bool   `json:"readOnly"`
		SubPath  string `json:"subPath"`
	} `json:"volumeMounts"`
	SecurityContext struct {
		Privileged               *bool  `json:"privileged"`
		RunAsUser                *int64 `json:"runAsUser"`
		RunAsNonRoot             *bool  `json:"runAsNonRoot"`
		AllowPrivilegeEscalation *bool  `json:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   *bool  `json:"readOnlyRootFilesystem"`
		Capabilities             struct {
			Add  []string `json:"add"`
			Drop []string `json:"drop"`
		} `json:"capabilities"`
	} `json:"securityContext"`
}

type probeTypes struct {
	InitialDelaySeconds int32 `json:"initialDelaySeconds"`
	TimeoutSeconds      int32 `json:"timeoutSeconds"`
	PeriodSeconds       int32 `json:"periodSeconds"`
	SuccessThreshold    int32 `json:"successThreshold"`
	FailureThreshold    int32 `json:"failureThreshold"`
	HTTPGet             struct {
		Path   string     `json:"path"`
		Port   *doc.Value `json:"port"`
		Host   string     `json:"host"`
		Scheme string     `json:"scheme"`
	} `json:"httpGet"`
	Exec struct {
		Command []string `json:"command"`
	} `json:"exec"`
}

// deploymentFaults returns the values of a wrong type in the deployments of a
// CSV, where [CSV] does not decode them.
func deploymentFaults(tree *doc.Value) []*doc.Mismatch {
	var faults []*doc.Mismatch
	list := tree.Get("spec", "install", "spec", "deployments")
	if list == nil || list.Kind != '[' {
		return nil
	}
	for i := range list.Members {
		spec := list.Members[i].Get("spec")
		if spec.Null() || spec.Kind != '{' {
			continue
		}
		// What both decode is reported twice; duplicates are dropped.
		for _, m := range doc.Decode(spec, new(deploymentTypes), 0) {
			m.Steps = append([]any{"spec", "install", "spec", "deployments", i, "spec"}, m.Steps...)
			faults = append(faults, m)
		}
	}
	return faults
}
