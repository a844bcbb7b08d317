/**
 * Server-side apply of custom resources: a conflict and its three solutions, diff, and moving from client-side apply.
 */
import type { Session } from '../session.ts'
import { established, fails, says } from '../steps.ts'

const group = '$NS.example.com'

const gates = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gates.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {plural: gates, kind: Gate, shortNames: [gt-$NS]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              mode: {type: string}
              size: {type: integer}
              note: {type: string}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [number]
                items: {type: object, required: [number], properties: {number: {type: integer}, name: {type: string}}}
`

const gate = (spec: string, name = 'g'): string =>
  `apiVersion: ${group}/v1\nkind: Gate\nmetadata: {name: ${name}}\nspec: ${spec}\n`
const applied = `gate.${group}/g serverside-applied`
const created = [
  says('create -f crd.yaml', `customresourcedefinition.apiextensions.k8s.io/gates.${group} created`),
  ...established('gates'),
]

export const customConflicts: Session = {
  name: 'custom-conflicts',
  files: {
    'crd.yaml': gates,
    'open.yaml': gate('{mode: open, size: 1, ports: [{number: 1}]}'),
    'shut.yaml': gate('{mode: shut, ports: [{number: 2}]}'),
    'none.yaml': gate('{size: 1, ports: [{number: 1}]}'),
    'same.yaml': gate('{mode: shut, size: 1}'),
  },
  steps: [
    ...created,
    says('apply --server-side --field-manager=one -f open.yaml', applied),
    // First solution: force.
    fails(
      'apply --server-side --field-manager=two -f shut.yaml',
      /Apply failed with 1 conflict: conflict with "one"(?: using \S+)?: \.spec\.mode[^]*Please review the fields above/,
    ),
    says('apply --server-side --field-manager=two --force-conflicts -f shut.yaml', applied),
    says('get gt-$NS g -o jsonpath={.spec.mode}/{.spec.size}/{.spec.ports[*].number}', 'shut/1/1 2'),
    // Second: the other manager releases the field.
    fails('apply --server-side --field-manager=one -f open.yaml', /conflict with "two"(?: using \S+)?: \.spec\.mode/),
    says('apply --server-side --field-manager=one -f none.yaml', applied),
    says('get gt-$NS g -o jsonpath={.spec.mode}', 'shut'),
    // Third: both apply the same value.
    says('apply --server-side --field-manager=one -f same.yaml', applied),
    says('get gt-$NS g -o jsonpath={.spec.mode}/{.spec.ports[*].number}', 'shut/2'),
    fails('apply --server-side --field-manager=two -f open.yaml', /conflict with "one"(?: using \S+)?: \.spec\.mode/),
    says(
      'get gt-$NS g --show-managed-fields -o jsonpath={range.metadata.managedFields[*]}{.manager}/{.operation}/{.fieldsV1.f:spec.f:mode};{end}',
      /^(?:one\/Apply\/\{\};two\/Apply\/\{\};|two\/Apply\/\{\};one\/Apply\/\{\};)$/,
      { since: '1.21' },
    ),
    fails('apply --server-side --field-manager=three --validate=false -f -', /field not declared in schema/, {
      stdin: gate('{colour: red}'),
    }),
    says(`delete crd gates.${group}`, /deleted/),
  ],
}

export const customMigration: Session = {
  name: 'custom-migration',
  files: {
    'crd.yaml': gates,
    'first.yaml': gate('{mode: open, size: 1, note: old}'),
    'next.yaml': gate('{mode: shut, size: 1}'),
  },
  steps: [
    ...created,
    says('apply -f first.yaml', `gate.${group}/g created`),
    {
      run: 'diff --server-side --force-conflicts -f next.yaml',
      since: '1.22',
      expect: { code: 1, out: ['diff <any>', '...', '-  mode: open', '...', '+  mode: shut', '...'] },
    },
    says('apply --server-side -f first.yaml', applied),
    says(
      'get gt-$NS g --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}',
      /^kubectl kubectl-last-applied$|^kubectl-last-applied kubectl$/,
      { since: '1.26' },
    ),
    says('apply --server-side -f next.yaml', applied, { since: '1.26' }),
    says('get gt-$NS g -o jsonpath={.spec}', '{"mode":"shut","size":1}', { since: '1.26' }),
    says('diff --server-side -f next.yaml', '', { since: '1.26' }),
    says(`patch gt-$NS g --type=merge -p '{"spec":{"size":5}}' --field-manager=hand`, `gate.${group}/g patched`),
    fails('apply --server-side -f next.yaml', /conflict with "hand" using \S+: \.spec\.size/, { since: '1.26' }),
    says('apply --server-side --dry-run=server --force-conflicts -f next.yaml', `${applied} (server dry run)`),
    says('get gt-$NS g -o jsonpath={.spec.size}', '5'),
    says(`delete crd gates.${group}`, /deleted/),
  ],
}
