/**
 * `kubectl get`: every output format and every way to select objects.
 */
import type { Session } from '../session.ts'
import { fails, says, warns } from '../steps.ts'

const three = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {rank: "1"}}, data: {a: "1"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {rank: "2"}}, data: {a: "3", b: "2"}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: {rank: "1"}}, data: {a: "2"}}
`

const created = says('create -f -', ['configmap/c created', 'configmap/a created', 'configmap/b created'], {
  stdin: three,
})

export const output: Session = {
  name: 'output',
  steps: [
    created,
    says('get configmaps c a b', ['NAME  DATA  AGE', 'c     1     <age>', 'a     2     <age>', 'b     1     <age>']),
    says('get cm a -o yaml', [
      'apiVersion: v1',
      'data:',
      '  a: "3"',
      '  b: "2"',
      'kind: ConfigMap',
      'metadata:',
      '  creationTimestamp: <time>',
      '  labels:',
      '    rank: "2"',
      '...',
      '  name: a',
      '  namespace: $NS',
      '  resourceVersion: "<word>"',
      '...',
      '  uid: <word>',
    ]),
    says('get cm a -o json', [
      '{',
      '    "apiVersion": "v1",',
      '    "data": {',
      '        "a": "3",',
      '        "b": "2"',
      '    },',
      '    "kind": "ConfigMap",',
      '    "metadata": {',
      '...',
      '}',
    ]),
    says('get cm -l rank -o name', ['configmap/a', 'configmap/b', 'configmap/c']),
    says(`get cm -l rank -o jsonpath='{range .items[*]}{.metadata.name}{"\\n"}{end}'`, ['a', 'b', 'c']),
    says('get cm -l rank -o custom-columns=NAME:.metadata.name,A:.data.a', ['NAME A', 'a 3', 'b 2', 'c 1']),
    says("get cm -l rank -o go-template='{{range .items}}{{.metadata.name}} {{end}}'", 'a b c'),
    says('get cm a -o wide', ['NAME  DATA  AGE', 'a     2     <age>']),
    says('get cm a --show-kind', ['NAME DATA AGE', 'configmap/a 2 <age>']),
    says('get cm -l rank --sort-by=.data.a', ['NAME DATA AGE', 'c 1 <age>', 'b 1 <age>', 'a 2 <age>']),
    says('get cm -l rank --sort-by=.data.a -o name', ['configmap/c', 'configmap/b', 'configmap/a']),
    says('get cm -l rank -L rank', ['NAME DATA AGE RANK', 'a 2 <age> 2', 'b 1 <age> 1', 'c 1 <age> 1']),
    says('get cm a --show-labels', ['NAME DATA AGE LABELS', 'a 2 <age> rank=2']),
    says('get cm a -o jsonpath={.nothing}', ''),
    fails('get cm a -o jsonpath={.nothing} --allow-missing-template-keys=false', /nothing is not found/),
    fails('get cm a -o nothing', /unable to match a printer suitable for the output format "nothing"/),
    says('get namespace $NS', ['NAME STATUS AGE', '$NS Active <age>']),
    says('get ns $NS --subresource=status -o name', 'namespace/$NS', { since: '1.24' }),
    fails('get cm a --subresource=status', /the server could not find the requested resource|"status" not supported/, {
      since: '1.24',
    }),
    says('get service -n default kubernetes', [
      'NAME        TYPE       CLUSTER-IP  EXTERNAL-IP  PORT(S)  AGE',
      'kubernetes  ClusterIP  10.<word>   <none>       443/TCP  <age>',
    ]),
  ],
}

export const selection: Session = {
  name: 'selection',
  steps: [
    created,
    says('get cm -l rank=1', ['NAME DATA AGE', 'b 1 <age>', 'c 1 <age>']),
    says("get cm -l 'rank in (2,3)' -o name", 'configmap/a'),
    says('get cm -l rank,rank!=1 --no-headers', 'a 2 <age>'),
    says('get cm --field-selector metadata.name=b', ['NAME DATA AGE', 'b 1 <age>']),
    says('get cm -l rank --chunk-size=1', ['NAME DATA AGE', 'a 2 <age>', 'b 1 <age>', 'c 1 <age>']),
    says('get cm a c', ['NAME DATA AGE', 'a 2 <age>', 'c 1 <age>']),
    says('get cm/a cm/b', ['NAME DATA AGE', 'a 2 <age>', 'b 1 <age>']),
    says('get cm,secret -l rank', [
      'NAME DATA AGE',
      'configmap/a 2 <age>',
      'configmap/b 1 <age>',
      'configmap/c 1 <age>',
    ]),
    says('get cm -A --field-selector metadata.namespace=$NS -l rank', [
      'NAMESPACE NAME DATA AGE',
      '$NS a 2 <age>',
      '$NS b 1 <age>',
      '$NS c 1 <age>',
    ]),
    says('get namespaces --field-selector metadata.name=$NS -o name', 'namespace/$NS'),
    warns('get secrets', ['', 'No resources found in $NS namespace.']),
    warns('get all', ['', 'No resources found in $NS namespace.']),
    warns('get nodes -l $NS', ['', 'No resources found']),
    says('get cm --ignore-not-found none', ''),
    {
      run: 'get cm a none',
      expect: {
        code: 1,
        out: ['NAME DATA AGE', 'a 2 <age>'],
        err: 'Error from server (NotFound): configmaps "none" not found',
      },
    },
    fails('get pods --field-selector spec.nonsense=1', /field label not supported: spec.nonsense/),
    fails(
      'get cm --field-selector=data.a=1',
      /"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"/,
    ),
    fails("get cm -l 'rank in'", /unable to parse requirement: found '' expected: '\('|unable to parse requirement/),
  ],
}
