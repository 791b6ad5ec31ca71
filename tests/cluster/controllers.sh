# Controllers of jobs that `cluster add` builds from Go modules and installs as their makers say, in pods.
# Part of `cluster`, whose words it uses.
added=$programs/added
declare -A modules=(
    [jobset]=sigs.k8s.io/jobset@v0.10.1
    [kueue]=sigs.k8s.io/kueue@v0.17.0
    [training-operator]=github.com/kubeflow/training-operator@v1.8.1
    [trainer]=github.com/kubeflow/trainer/v2@v2.0.0
)
declare -A mains=(          # where their programs are
    [jobset]=. [kueue]=./cmd/kueue [training-operator]=./cmd/training-operator.v1 [trainer]=./cmd/trainer-controller-manager
)
declare -A namespaces=(
    [jobset]=jobset-system [kueue]=kueue-system [training-operator]=kubeflow [trainer]=kubeflow-system
)
declare -A followed=([trainer]=manifests/base/runtimes/torch_distributed.yaml)     # what needs a controller that answers

known() {           # known NAME...
    for name; do [ -n "${modules[$name]:-}" ] || die "there is no controller $name, only ${!modules[*]}"; done
}

folder_of() { echo "$added/$1-${modules[$1]##*@}"; }

build_controllers() {
    local name folder source
    for name; do
        folder=$(folder_of "$name")
        [ ! -f "$folder/image.tar" ] || continue
        go_suits || die "building $name needs Go 1.26 or later"
        say "building $name ${modules[$name]##*@}"
        source=$(module_folder "${modules[$name]}")
        rm -rf "$folder" && mkdir -p "$folder/image"
        cp -r --no-preserve=mode "$source/$([ -d "$source/config" ] && echo config || echo manifests)" "$folder/manifests"
        (cd "$source" && go build -mod=readonly -buildvcs=false -ldflags "-s -w" -o "$folder/image/manager" "${mains[$name]}")
        python3 "$here/image.py" "$folder/image.tar" "docker.io/couler-test/$name:built" "$folder/image" /manager
        rm -rf "$folder/image"
    done
}

add_controllers() {
    local name folder
    for name; do
        folder=$(folder_of "$name")
        ! available "$name" || continue
        ctr images import "$folder/image.tar" >/dev/null
        cp "$here/controllers/pod.yaml" "$folder/"
        cp "$here/controllers/$name.yaml" "$folder/kustomization.yaml"
        kubectl kustomize "$folder" | kubectl apply --server-side -f - >/dev/null
    done
    for name; do
        wait_for 180 "$name" available "$name"
        [ -z "${followed[$name]:-}" ] || kubectl apply --server-side -f "$(folder_of "$name")/${followed[$name]}" >/dev/null
    done
}

available() {       # is the pod of this controller ready, and do its services answer?
    local namespace=${namespaces[$1]} address
    kubectl wait -n "$namespace" deployment --all --for=condition=Available --timeout=0 >/dev/null 2>&1 || return 1
    for address in $(kubectl get services -n "$namespace" -o 'jsonpath={.items[?(@.spec.ports[*].port==443)].spec.clusterIP}'); do
        inside timeout 1 bash -c ": </dev/tcp/$address/443" 2>/dev/null || return 1
    done
}
