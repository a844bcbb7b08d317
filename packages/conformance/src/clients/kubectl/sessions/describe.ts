/**
 * `kubectl describe`: the client asks for the object and for what belongs to it.
 */
import type { Session } from '../session.ts'
import { deployment, fails, node, says, warns } from '../steps.ts'

export const describeObjects: Session = {
  name: 'describe',
  steps: [
    says('create -f -', 'node/$NS-node created', { stdin: node }),
    says('describe node $NS-node', ['Name: $NS-node', 'Roles: <none>', 'Labels: zone=a', 'Annotations: <none>', 'CreationTimestamp: <any>', 'Taints: <any>', 'Unschedulable: false', '...', 'Non-terminated Pods: (0 in total)', '...', 'Events: <none>']),
    says('create configmap c --from-literal=a=1', 'configmap/c created'),
    says('describe cm c', ['Name: c', 'Namespace: $NS', 'Labels: <none>', 'Annotations: <none>', '', 'Data', '====', 'a:', '----', '1', '...', 'Events: <none>']),
    says('create secret generic s --from-literal=a=12345', 'secret/s created'),
    says('describe secret s', ['Name: s', 'Namespace: $NS', 'Labels: <none>', 'Annotations: <none>', '', 'Type: Opaque', '', 'Data', '====', 'a: 5 bytes']),
    says('describe namespace $NS', ['Name: $NS', 'Labels: kubernetes.io/metadata.name=$NS', 'Annotations: <none>', 'Status: Active', '', 'No resource quota.', '', 'No LimitRange resource.']),
    says('create quota q --hard=pods=5', 'resourcequota/q created'),
    says('describe quota q', ['Name: q', 'Namespace: $NS', 'Resource Used Hard', '-------- <any>', '...']),
    says('create sa robot', 'serviceaccount/robot created'),
    says('describe sa robot', ['Name: robot', 'Namespace: $NS', '...', 'Image pull secrets: <none>', '...', 'Events: <none>']),
    says('create role r --verb=get --resource=pods', 'role.rbac.authorization.k8s.io/r created'),
    says('describe role r', ['Name: r', 'Labels: <none>', 'Annotations: <none>', 'PolicyRule:', '  Resources Non-Resource URLs Resource Names Verbs', '  --------- <any>', '  pods [] [] [get]']),
    fails('describe cm none', 'Error from server (NotFound): configmaps "none" not found'),
    warns('describe pods -l app=none', ['', 'No resources found in $NS namespace.']),
  ],
}

export const describeWorkloads: Session = {
  name: 'describe-workloads',
  steps: [
    says('run p --image=nginx --labels=app=p --env=A=1 --port=80', 'pod/p created'),
    says('describe pod p', [
      'Name: p', 'Namespace: $NS', '...', 'Labels: app=p', 'Annotations: <none>', 'Status: Pending', 'IP:', 'IPs: <none>', 'Containers:', '  p:', '    Image: nginx', '    Port: 80/TCP',
      '    Host Port: 0/TCP', '    Environment:', '      A: 1', '    Mounts: <none>', 'Volumes: <none>', 'QoS Class: BestEffort', 'Node-Selectors: <none>', 'Tolerations: <any>', '...', 'Events: <none>',
    ]),
    says('create -f -', 'deployment.apps/web created', { stdin: deployment('web') }),
    says('describe deployment web', [
      'Name: web', 'Namespace: $NS', 'CreationTimestamp: <any>', 'Labels: app=web', 'Annotations: <none>', 'Selector: app=web',
      'Replicas: 2 desired | 0 updated | 0 total | 0 available | 0 unavailable', 'StrategyType: RollingUpdate', 'MinReadySeconds: 0',
      'RollingUpdateStrategy: 25% max unavailable, 25% max surge', 'Pod Template:', '  Labels: app=web', '  Containers:', '   main:', '    Image: nginx:1', '...', 'Events: <none>',
    ]),
    says('expose deployment web --port=80', 'service/web exposed'),
    warns('describe service web', [[
      'Name: web', 'Namespace: $NS', 'Labels: app=web', 'Annotations: <none>', 'Selector: app=web', 'Type: ClusterIP', '...', 'IP: 10.<word>', 'IPs: 10.<word>', 'Port: <unset> 80/TCP',
      'TargetPort: 80/TCP', '...', 'Session Affinity: None', '...', 'Events:<any>', '...',
    ], /^$|Endpoints is deprecated/]),
    says('create job j --image=busybox', 'job.batch/j created'),
    says('describe job j', ['Name: j', 'Namespace: $NS', 'Selector: batch.kubernetes.io/controller-uid=<word>', '...', 'Parallelism: 1', 'Completions: 1', '...', 'Pod Template:', '...', '    Image: busybox', '...', 'Events: <none>']),
    says('create ingress i --rule=a.com/=web:80', 'ingress.networking.k8s.io/i created'),
    warns('describe ingress i', [['Name: i', '...', 'Rules:', '  Host Path Backends', '  ---- <any>', '  a.com', '              / web:80 (<any>)', 'Annotations: <none>', 'Events: <none>'], /^$|Endpoints is deprecated/]),
  ],
}
