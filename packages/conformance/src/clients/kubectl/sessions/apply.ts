/**
 * `kubectl apply` and `kubectl diff`: the client computes the changes and sends a patch.
 */
import type { Session } from '../session.ts'
import { configMap, deployment, fails, says, warns } from '../steps.ts'

const first = configMap('settings', { metadata: ', labels: {team: a, old: "1"}', data: '{a: "1", b: "2"}' })

export const apply: Session = {
  name: 'apply',
  files: {
    'first.yaml': first,
    'second.yaml': configMap('settings', { metadata: ', labels: {team: b}', data: '{a: "3"}' }),
  },
  steps: [
    says('apply -f first.yaml', 'configmap/settings created'),
    says('apply -f first.yaml', 'configmap/settings unchanged'),
    says('annotate cm settings by=hand', 'configmap/settings annotated'),
    says(`patch cm settings -p '{"data":{"z":"kept"}}'`, 'configmap/settings patched'),
    says('apply -f second.yaml --dry-run=server', 'configmap/settings configured (server dry run)'),
    says('get cm settings -o jsonpath={.data.a}', '1'),
    says('apply -f second.yaml', 'configmap/settings configured'),
    says(
      'get cm settings -o jsonpath={.data}{.metadata.labels}{.metadata.annotations.by}',
      '{"a":"3","z":"kept"}{"team":"b"}hand',
    ),
    says('apply view-last-applied cm settings -o json', /"a": "3"/),
    says('apply set-last-applied -f first.yaml', 'configmap/settings configured'),
    says('apply -f second.yaml', 'configmap/settings configured'),
    says('apply -f - --dry-run=server', 'configmap/fresh created (server dry run)', { stdin: configMap('fresh') }),
    says('create cm bare --from-literal=a=1', 'configmap/bare created'),
    warns(
      'apply -f -',
      ['configmap/bare configured', /is missing the kubectl.kubernetes.io\/last-applied-configuration annotation/],
      { stdin: configMap('bare', { data: '{b: "1"}' }) },
    ),
    says('get cm bare -o jsonpath={.data}', '{"a":"1","b":"1"}'),
    fails('apply -f -', 'error: from x-: cannot use generate name with apply', {
      stdin: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x-}\n',
    }),
  ],
}

const list = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: kept, labels: {set: x}}}
- {apiVersion: v1, kind: Secret, metadata: {name: pruned, labels: {set: x}}}
`

export const applyWorkloads: Session = {
  name: 'apply-workloads',
  files: {
    'web.yaml': deployment('web'),
    'web2.yaml': deployment('web', { image: 'nginx:2', replicas: 3 }),
    'list.yaml': list,
  },
  steps: [
    says('apply -f web.yaml', 'deployment.apps/web created'),
    says('apply -f web.yaml', 'deployment.apps/web unchanged'),
    says('apply -f web2.yaml', 'deployment.apps/web configured'),
    says('get deploy web -o jsonpath={.spec.replicas}/{.spec.template.spec.containers[*].image}', '3/nginx:2'),
    says('scale deploy web --replicas=7', 'deployment.apps/web scaled'),
    says('apply -f web2.yaml', 'deployment.apps/web configured'),
    says('get deploy web -o jsonpath={.spec.replicas}/{.metadata.generation}', '3/4'),
    says('diff -f web2.yaml', ''),
    {
      run: 'diff -f web.yaml',
      expect: {
        code: 1,
        out: [
          'diff <any>',
          '...',
          '-  generation: 4',
          '+  generation: 5',
          '...',
          '-  replicas: 3',
          '+  replicas: 2',
          '...',
          '-      - image: nginx:2',
          '+      - image: nginx:1',
          '...',
        ],
      },
    },
    says('apply -f list.yaml', ['configmap/kept created', 'secret/pruned created']),
    says(
      'apply --prune -l set=x --prune-allowlist=core/v1/Secret -f -',
      ['configmap/kept unchanged', 'secret/pruned pruned'],
      { since: '1.26', stdin: configMap('kept', { metadata: ', labels: {set: x}' }).replace('data: {}\n', '') },
    ),
    says(
      'apply --prune -l set=x --prune-whitelist=core/v1/Secret -f -',
      ['configmap/kept unchanged', 'secret/pruned pruned'],
      { until: '1.26', stdin: configMap('kept', { metadata: ', labels: {set: x}' }).replace('data: {}\n', '') },
    ),
    fails('get secret pruned', 'Error from server (NotFound): secrets "pruned" not found'),
  ],
}

export const applyServerSide: Session = {
  name: 'apply-server-side',
  files: {
    'web.yaml': deployment('web'),
    'web2.yaml': deployment('web', { image: 'nginx:2', replicas: 3 }),
    'cm.yaml': configMap('shared', { data: '{a: "1", b: "2"}' }),
    'less.yaml': configMap('shared', { data: '{a: "1"}' }),
  },
  steps: [
    says('apply --server-side -f web.yaml', 'deployment.apps/web serverside-applied'),
    says('apply --server-side -f web.yaml', 'deployment.apps/web serverside-applied'),
    says('get deploy web -o jsonpath={.metadata.generation}', '1'),
    says('scale deploy web --replicas=7', 'deployment.apps/web scaled'),
    fails(
      'apply --server-side -f web2.yaml',
      /Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps\/v1: .spec.replicas/,
      { since: '1.22' },
    ),
    says('apply --server-side --force-conflicts -f web2.yaml', 'deployment.apps/web serverside-applied'),
    says('get deploy web -o jsonpath={.spec.replicas}/{.spec.template.spec.containers[*].image}', '3/nginx:2'),
    says('diff --server-side -f web2.yaml', ''),
    says('apply --server-side -f cm.yaml', 'configmap/shared serverside-applied'),
    says('apply --server-side --field-manager=other -f less.yaml', 'configmap/shared serverside-applied'),
    says('apply --server-side -f less.yaml', 'configmap/shared serverside-applied'),
    says('get cm shared -o jsonpath={.data}', '{"a":"1"}'),
    says('apply --server-side --dry-run=server -f cm.yaml', 'configmap/shared serverside-applied (server dry run)'),
    says('get cm shared -o jsonpath={.data}', '{"a":"1"}'),
    says(
      'get cm shared -o jsonpath={.metadata.managedFields[*].manager} --show-managed-fields',
      /^kubectl other$|^other kubectl$/,
      { since: '1.21' },
    ),
  ],
}

export const replace: Session = {
  name: 'replace',
  files: {
    'cm.yaml': configMap('c', { data: '{a: "1"}' }),
    'old.yaml': configMap('c', { metadata: ', resourceVersion: "1"' }),
    'service.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 81}]}\n',
  },
  steps: [
    fails(
      'replace -f cm.yaml',
      'Error from server (NotFound): error when replacing "cm.yaml": configmaps "c" not found',
    ),
    says('create -f cm.yaml', 'configmap/c created'),
    says('replace -f cm.yaml', 'configmap/c replaced'),
    says('replace -f -', 'configmap/c replaced', { stdin: configMap('c', { data: '{b: "1"}' }) }),
    says('get cm c -o jsonpath={.data}', '{"b":"1"}'),
    fails(
      'replace -f old.yaml',
      'Error from server (Conflict): error when replacing "old.yaml": Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again',
    ),
    says('replace --force -f cm.yaml', ['configmap "c" deleted<any>', 'configmap/c replaced']),
    says('replace --force -f -', 'configmap/new replaced', { stdin: configMap('new') }),
    says('replace -f cm.yaml --dry-run=server', 'configmap/c replaced (server dry run)'),
    says('create -f -', 'deployment.apps/web created', { stdin: deployment('web') }),
    says('replace -f -', 'deployment.apps/web replaced', { stdin: deployment('web', { image: 'nginx:2' }) }),
    says('get deploy web -o jsonpath={.metadata.generation}', '2'),
    says('create svc clusterip s --tcp=80', 'service/s created'),
    says('replace -f service.yaml', 'service/s replaced'),
    says('get svc s -o jsonpath={.spec.ports[0].port}', '81'),
    says('diff -f cm.yaml', ''),
    {
      run: 'diff -f -',
      stdin: configMap('c', { data: '{a: "2"}' }),
      expect: { code: 1, out: ['diff <any>', '...', '-  a: "1"', '+  a: "2"', '...'] },
    },
    {
      run: 'diff -f -',
      stdin: configMap('fresh'),
      expect: { code: 1, out: ['diff <any>', '...', '+  name: fresh', '...'] },
    },
    says('get cm fresh --ignore-not-found', ''),
  ],
}
