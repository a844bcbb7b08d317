/**
 * Errors and their texts in kubectl, which come from the Status of the server.
 */
import type { Session } from '../session.ts'
import { configMap, deployment, fails, says, warns } from '../steps.ts'

const subdomain = /a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '\.'/

export const refusals: Session = {
  name: 'refusals',
  steps: [
    fails('get cm none', 'Error from server (NotFound): configmaps "none" not found'),
    fails('get nothing', 'error: the server doesn\'t have a resource type "nothing"'),
    fails('get cm none -n nowhere', /NotFound/),
    says('create cm a', 'configmap/a created'),
    fails('create cm a', /configmaps "a" already exists/),
    fails(
      'create -f -',
      'Error from server (AlreadyExists): error when creating "STDIN": configmaps "a" already exists',
      { stdin: configMap('a') },
    ),
    fails('create -f -', subdomain, { stdin: configMap('UPPER') }),
    fails('create ns UPPER', /a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'/),
    fails('create deployment UPPER --image=a', subdomain),
    fails('create cm a -n nowhere', /namespaces "nowhere" not found/),
    fails('create -f -', /no matches for kind "Nothing" in version "v1"/, {
      stdin: 'apiVersion: v1\nkind: Nothing\nmetadata: {name: a}\n',
    }),
    fails('create -f -', /no matches for kind "Nothing" in version "example.com\/v1"/, {
      stdin: 'apiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: a}\n',
    }),
    fails('create -f -', 'The Pod "p" is invalid: spec.containers: Required value', {
      since: '1.25',
      stdin: 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n',
    }),
    fails(
      'create -f - --validate=false',
      [
        'The Pod "p" is invalid:',
        '* spec.containers[0].image: Required value',
        '* spec.containers[1].name: Duplicate value: "a"',
      ],
      {
        stdin: 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a}, {name: a, image: b}]}\n',
      },
    ),
    fails(
      'create -f -',
      'The Deployment "d" is invalid: spec.template.metadata.labels: Invalid value: {"app":"e"}: `selector` does not match template `labels`',
      {
        stdin: deployment('d').replace('metadata: {labels: {app: d}}', 'metadata: {labels: {app: e}}'),
      },
    ),
    fails(
      'create -f -',
      [
        'The Service "s" is invalid:',
        '* spec.ports[0].port: Invalid value: 99999: must be between 1 and 65535, inclusive',
        '* spec.ports[0].targetPort: Invalid value: 99999: must be between 1 and 65535, inclusive',
      ],
      { stdin: 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 99999}]}\n' },
    ),
    fails(
      'create secret generic s --type=kubernetes.io/tls',
      /Secret "s" is invalid:[^]*data\[tls.crt\]: Required value[^]*data\[tls.key\]: Required value/,
    ),
    fails(
      'create -f -',
      /metadata.labels: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters/,
      { stdin: configMap('x', { metadata: ', labels: {a: "b c"}' }) },
    ),
    fails('create -f -', /namespaces "\$NS-other" not found/, {
      stdin: configMap('x', { metadata: ', namespace: $NS-other' }),
    }),
    {
      run: 'create -f -',
      stdin: `${configMap('a')}---\n${configMap('ok')}`,
      expect: {
        code: 1,
        out: 'configmap/ok created',
        err: 'Error from server (AlreadyExists): error when creating "STDIN": configmaps "a" already exists',
      },
    },
    fails(
      'create --raw /api/v1/namespaces/$NS/configmaps -f -',
      /BadRequest.*the object provided is unrecognized \(must be of type ConfigMap\)/,
      { stdin: 'nonsense' },
    ),
    warns('get endpoints', [
      '',
      [
        'Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
        'No resources found in $NS namespace.',
      ],
    ]),
    fails(
      'get --raw /api/v1/namespaces/$NS/configmaps/none',
      'Error from server (NotFound): configmaps "none" not found',
    ),
    fails('create role r --verb=get --resource=nothing', /the server doesn't have a resource type "nothing"/),
    fails('get cm --token=wrong', /You must be logged in to the server \(Unauthorized\)/),
  ],
}

const unknown = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndat: {a: "1"}\n`
const misspelt = deployment('d').replace('replicas', 'replica')

export const validation: Session = {
  name: 'validation',
  steps: [
    fails(
      'create -f - --validate=strict',
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dat"',
      { since: '1.25', stdin: unknown('a') },
    ),
    fails('create -f - --validate=true', /unknown field "dat"/, { stdin: unknown('a') }),
    warns('create -f - --validate=warn', ['configmap/a created', 'Warning: unknown field "dat"'], {
      since: '1.25',
      stdin: unknown('a'),
    }),
    says('create -f - --validate=ignore', 'configmap/b created', { since: '1.25', stdin: unknown('b') }),
    // Older clients do not know that the server can suppress warnings.
    warns('create -f - --validate=false', ['configmap/c created', 'Warning: unknown field "dat"'], {
      until: '1.25',
      stdin: unknown('c'),
    }),
    says('create -f - --validate=false', 'configmap/c created', { since: '1.25', stdin: unknown('c') }),
    fails(
      'apply -f - --validate=strict',
      'Error from server (BadRequest): error when creating "STDIN": Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.replica"',
      { since: '1.25', stdin: misspelt },
    ),
    warns('apply -f - --validate=warn', ['deployment.apps/d created', 'Warning: unknown field "spec.replica"'], {
      since: '1.25',
      stdin: misspelt,
    }),
    fails(
      'create -f - --validate=false',
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
      { stdin: configMap('wrong', { data: '{a: 1}' }) },
    ),
    fails(
      'create --raw /api/v1/namespaces/$NS/configmaps?fieldValidation=Strict -f -',
      /strict decoding error: duplicate field "kind"/,
      { since: '1.25', stdin: '{"apiVersion":"v1","kind":"ConfigMap","kind":"ConfigMap","metadata":{"name":"x"}}' },
    ),
  ],
}
