/**
 * Changes while kubectl runs: watches, wait, and events.
 */
import type { Session, Step } from '../session.ts'
import { configMap, fails, says } from '../steps.ts'

const comeAndGo: readonly Step[] = [
  says('create cm b', 'configmap/b created'),
  says(`patch cm b -p '{"data":{"x":"1"}}'`, 'configmap/b patched'),
  says('delete cm b', 'configmap "b" deleted<any>'),
]

/** With `-v=6` kubectl logs when it watches. */
const watching = /watch=true.*200 OK/

export const watch: Session = {
  name: 'watch',
  steps: [
    says('create cm a', 'configmap/a created'),
    {
      run: 'get cm -w --field-selector metadata.name!=kube-root-ca.crt',
      during: { ready: /^a /m, steps: comeAndGo, enough: /(?:^b .*\n){3}/m },
      expect: { out: ['NAME DATA AGE', 'a 0 <age>', 'b 0 <age>', 'b 1 <age>', 'b 1 <age>'] },
    },
    {
      run: 'get cm -l !none --output-watch-events -w -o custom-columns=TYPE:type,NAME:.object.metadata.name',
      during: { ready: /^ADDED +a/m, steps: comeAndGo, enough: /DELETED/ },
      expect: { out: ['TYPE NAME', 'ADDED a', 'ADDED b', 'MODIFIED b', 'DELETED b'] },
    },
    {
      run: 'get cm --watch-only -l rank=1 --output-watch-events -o custom-columns=TYPE:type,NAME:.object.metadata.name -v=6',
      during: {
        ready: watching,
        steps: [
          says('create -f -', 'configmap/c created', { stdin: configMap('c', { metadata: ', labels: {rank: "1"}' }) }),
          says('label cm c rank-', /labeled/),
          says('label cm c rank=2', /labeled/),
        ],
        enough: /DELETED/,
      },
      expect: { out: ['TYPE NAME', 'ADDED c', 'DELETED c'] },
    },
    {
      run: 'get cm a -w --request-timeout=1s -o name',
      expect: { code: 0, out: 'configmap/a', err: /^$|Timeout|deadline/ },
    },
  ],
}

export const wait: Session = {
  name: 'wait',
  steps: [
    says('run p --image=nginx', 'pod/p created'),
    fails('wait pod p --for=condition=Ready --timeout=1s', /timed out waiting for the condition on pods\/p/),
    {
      run: 'wait pod p --for=condition=Ready --timeout=20s -v=6',
      since: '1.24',
      during: {
        ready: watching,
        steps: [
          says(
            `patch pod p --subresource=status -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'`,
            'pod/p patched',
          ),
        ],
      },
      expect: { out: 'pod/p condition met' },
    },
    says('get pod p', ['NAME READY STATUS RESTARTS AGE', 'p 0/1 Running 0 <age>'], { since: '1.24' }),
    says('wait pod p --for=jsonpath={.status.phase}=Running --timeout=5s', 'pod/p condition met', { since: '1.24' }),
    fails(
      'wait pod p --for=jsonpath={.status.phase}=Failed --timeout=1s',
      /timed out waiting for the condition on pods\/p/,
      { since: '1.24' },
    ),
    says('wait ns $NS --for=jsonpath={.status.phase}=Active', 'namespace/$NS condition met', { since: '1.24' }),
    {
      run: 'wait pod p --for=delete --timeout=20s -v=6',
      during: { ready: watching, steps: [says('delete pod p --wait=false', 'pod "p" deleted<any>')] },
      expect: { out: 'pod/p condition met' },
    },
    fails('wait pod none --for=condition=Ready', 'Error from server (NotFound): pods "none" not found'),
    says('wait ns $NS --for=create', 'namespace/$NS condition met', { since: '1.31' }),
    says('create -f -', 'configmap/held created', {
      stdin: configMap('held', { metadata: ', finalizers: ["example.com/hold"]' }),
    }),
    fails('delete cm held --timeout=1s', /timed out waiting for the condition on configmaps\/held/),
    says('get cm held -o jsonpath={.metadata.deletionTimestamp}', '<time>'),
    {
      run: 'delete cm held -v=6',
      during: {
        ready: watching,
        steps: [says(`patch cm held --type=merge -p '{"metadata":{"finalizers":null}}'`, 'configmap/held patched')],
      },
      expect: { out: 'configmap "held" deleted<any>' },
    },
    fails('get cm held', 'Error from server (NotFound): configmaps "held" not found'),
  ],
}

const event = `apiVersion: v1
kind: Event
metadata: {name: e1}
involvedObject: {kind: ConfigMap, name: a, namespace: $NS, apiVersion: v1}
reason: Made
message: it was made
type: Normal
firstTimestamp: 2020-01-01T00:00:00Z
lastTimestamp: 2020-01-01T00:00:00Z
count: 2
source: {component: test}
`

export const events: Session = {
  name: 'events',
  steps: [
    says('create cm a', 'configmap/a created'),
    says('create -f -', 'event/e1 created', { stdin: event }),
    says('events', ['LAST SEEN TYPE REASON OBJECT MESSAGE', '<any> Normal Made ConfigMap/a it was made'], {
      since: '1.26',
    }),
    says('events --for cm/a', ['LAST SEEN TYPE REASON OBJECT MESSAGE', '<any> Normal Made ConfigMap/a it was made'], {
      since: '1.26',
    }),
    says('get events', [
      'LAST SEEN  TYPE    REASON  OBJECT       MESSAGE',
      '<age>      Normal  Made    configmap/a  it was made',
    ]),
    says('get events -o wide', [
      'LAST SEEN TYPE REASON OBJECT SUBOBJECT SOURCE MESSAGE FIRST SEEN COUNT NAME',
      '<age> Normal Made configmap/a test it was made <age> 2 e1',
    ]),
    says('get events --field-selector involvedObject.name=a -o name', 'event/e1'),
    says('get events.v1.events.k8s.io e1 -o jsonpath={.note}/{.regarding.name}', 'it was made/a'),
  ],
}
