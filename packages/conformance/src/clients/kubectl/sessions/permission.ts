/**
 * Authorization in kubectl: `auth can-i`, RBAC objects, and `--as` for a user with few rights.
 */
import type { Session, Step, Text } from '../session.ts'
import { fails, says } from '../steps.ts'

/** Checks access that a user does not have. */
function refuses(run: string, out: Text = 'no'): Step {
  return { run, expect: { code: 1, out } }
}

const rules = (resources: string, user: string): string => `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reconciled, namespace: $NS}
rules: [{apiGroups: [""], resources: [${resources}], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reconciled, namespace: $NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reconciled}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: $NS-eve}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reconciled-too, namespace: $NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reconciled}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: ${user}}]
`

export const permission: Session = {
  name: 'permission',
  files: { 'first.yaml': rules('configmaps', '$NS-bob'), 'second.yaml': rules('configmaps, pods', '$NS-cy') },
  steps: [
    refuses('auth can-i list pods --as $NS-ann'),
    fails(
      'get cm --as $NS-ann',
      'Error from server (Forbidden): configmaps is forbidden: User "$NS-ann" cannot list resource "configmaps" in API group "" in the namespace "$NS"',
    ),
    says('create role reader --verb=get,list --resource=configmaps', 'role.rbac.authorization.k8s.io/reader created'),
    says(
      'create role one --verb=get --resource=secrets --resource-name=mine',
      'role.rbac.authorization.k8s.io/one created',
    ),
    says(
      'create rolebinding ann-reads --role=reader --user=$NS-ann',
      'rolebinding.rbac.authorization.k8s.io/ann-reads created',
    ),
    says(
      'create rolebinding ann-one --role=one --user=$NS-ann',
      'rolebinding.rbac.authorization.k8s.io/ann-one created',
    ),
    says('auth can-i list cm --as $NS-ann', 'yes'),
    says('auth can-i get secrets/mine --as $NS-ann', 'yes'),
    refuses('auth can-i get secrets --as $NS-ann'),
    refuses('auth can-i list cm --as $NS-ann -n default'),
    refuses('auth can-i list cm --as $NS-ann --all-namespaces'),
    says('auth can-i get /version --as $NS-ann', 'yes'),
    refuses('auth can-i get /metrics --as $NS-ann'),
    says('auth can-i --list --as $NS-ann', /configmaps +\[\] +\[\] +\[get list\][^]*secrets +\[\] +\[mine\] +\[get\]/),
    says('get cm --as $NS-ann -o name', /^(?:configmap\/kube-root-ca.crt)?\s*$/),
    fails(
      'create cm x --as $NS-ann',
      /configmaps is forbidden: User "\S+-ann" cannot create resource "configmaps" in API group "" in the namespace/,
    ),
    says(
      'create role writer --verb=create --resource=roles,rolebindings',
      'role.rbac.authorization.k8s.io/writer created',
    ),
    says(
      'create rolebinding ann-writes --role=writer --user=$NS-ann',
      'rolebinding.rbac.authorization.k8s.io/ann-writes created',
    ),
    says(
      'create role held --verb=get --resource=configmaps --as $NS-ann',
      'role.rbac.authorization.k8s.io/held created',
    ),
    fails('create role more --verb=get,watch --resource=configmaps --as $NS-ann', [
      'Error from server (Forbidden): roles.rbac.authorization.k8s.io "more" is forbidden: user "$NS-ann" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
      '{APIGroups:[""], Resources:["configmaps"], Verbs:["watch"]}',
    ]),
    fails(
      'create rolebinding more --clusterrole=cluster-admin --user=$NS-ann --as $NS-ann',
      /rolebindings.rbac.authorization.k8s.io "more" is forbidden: user "\$NS-ann" .* is attempting to grant RBAC permissions not currently held:/,
    ),
  ],
}

export const reconcile: Session = {
  name: 'reconcile',
  files: permission.files ?? {},
  steps: [
    {
      run: 'auth reconcile -f first.yaml',
      expect: {
        out: [
          'role.rbac.authorization.k8s.io/reconciled reconciled',
          'rolebinding.rbac.authorization.k8s.io/reconciled reconciled',
          'rolebinding.rbac.authorization.k8s.io/reconciled-too reconciled',
        ],
        err: /reconciliation required create/,
      },
    },
    says('auth can-i get cm --as $NS-bob', 'yes'),
    {
      run: 'auth reconcile -f second.yaml',
      expect: {
        out: /reconciled/,
        err: /reconciliation required update[^]*missing rules added:[^]*pods[^]*missing subjects added:/,
      },
    },
    says('get rolebinding reconciled-too -o jsonpath={.subjects[*].name}', '$NS-bob $NS-cy'),
    says('auth can-i get pods --as $NS-cy', 'yes'),
    {
      run: 'auth reconcile -f first.yaml --remove-extra-permissions --remove-extra-subjects',
      expect: { out: /reconciled/, err: /removed extra|extra rules removed|reconciliation required update/ },
    },
    { run: 'auth can-i get pods --as $NS-bob', expect: { code: 1, out: 'no' } },
    says('get rolebinding reconciled-too -o jsonpath={.subjects[*].name}', '$NS-bob'),
  ],
}
