/**
 * Custom resources: CRDs like those of well-known operators, and kubectl commands on them.
 */
import { bigSchema } from '../big-schema.ts'
import type { Session } from '../session.ts'
import { established, fails, says } from '../steps.ts'

const group = '$NS.example.com'
const definition = 'customresourcedefinition.apiextensions.k8s.io'
const gone = /customresourcedefinition\.apiextensions\.k8s\.io "\w+\.\$NS\.example\.com" deleted/

/** Two versions of one schema, columns, status and scale, like those of a certificate manager. */
const permits = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: permits.${group}}
spec:
  group: ${group}
  scope: Namespaced
  names: {plural: permits, singular: permit, kind: Permit, shortNames: [pm-$NS], categories: [judged-$NS]}
  versions:
${['v1', 'v1alpha1']
  .map(
    (name) => `  - name: ${name}
    served: true
    storage: ${name === 'v1'}
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Secret, type: string, jsonPath: .spec.secretName}
    - {name: Issuer, type: string, priority: 1, jsonPath: .spec.issuer.name}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: Permit asks for a signed document and says where to put it.
        properties:
          spec:
            type: object
            description: What is asked for.
            required: [secretName]
            properties:
              secretName: {type: string, description: Where the document goes., maxLength: 20}
              replicas: {type: integer, default: 1}
              names: {type: array, items: {type: string}, x-kubernetes-list-type: set}
              issuer:
                type: object
                description: Who signs.
                properties: {name: {type: string, description: The name of who signs.}, kind: {type: string, enum: [Issuer, ClusterIssuer], default: Issuer}}
          status:
            type: object
            properties:
              replicas: {type: integer}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items: {type: object, required: [type, status], properties: {type: {type: string}, status: {type: string}}}
`,
  )
  .join('')}`

const permit = (name: string, more = ''): string =>
  `apiVersion: ${group}/v1\nkind: Permit\nmetadata: {name: ${name}}\nspec: {secretName: hidden, issuer: {name: root}${more}}\n`

export const customResources: Session = {
  name: 'custom-resources',
  files: { 'crd.yaml': permits, 'one.yaml': permit('one'), 'two.yaml': permit('one', ', names: [a.example.com]') },
  steps: [
    says('create -f crd.yaml', `${definition}/permits.${group} created`),
    ...established('permits'),
    says('apply -f one.yaml', `permit.${group}/one created`),
    says('apply -f one.yaml', `permit.${group}/one unchanged`),
    says('apply -f two.yaml', `permit.${group}/one configured`),
    says(
      `api-resources --api-group=${group}`,
      ['NAME SHORTNAMES APIVERSION NAMESPACED KIND', `permits pm-$NS ${group}/v1 true Permit`],
      { since: '1.27' },
    ),
    says('get pm-$NS', ['NAME READY SECRET AGE', 'one hidden <age>']),
    says('get pm-$NS -o wide', ['NAME READY SECRET ISSUER AGE', 'one hidden root <age>']),
    says('get judged-$NS', ['NAME READY SECRET AGE', 'one hidden <age>']),
    says(
      `get permits.v1alpha1.${group} one -o jsonpath={.apiVersion}/{.spec.issuer.kind}/{.spec.replicas}`,
      `${group}/v1alpha1/Issuer/1`,
    ),
    says('edit pm-$NS one', `permit.${group}/one edited`, { editor: 'sed -i s/hidden/shown/' }),
    says('get pm-$NS one -o jsonpath={.spec.secretName}/{.metadata.generation}', 'shown/3'),
    says(`patch pm-$NS one --type=merge -p '{"spec":{"secretName":"again"}}'`, `permit.${group}/one patched`),
    says(
      `patch pm-$NS one --type=json -p '[{"op":"add","path":"/spec/names/-","value":"b.example.com"}]'`,
      `permit.${group}/one patched`,
    ),
    fails(
      `patch pm-$NS one -p '{"spec":{"secretName":"again"}}'`,
      /the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml/,
    ),
    fails(
      `patch pm-$NS one --type=merge -p '{"spec":{"secretName":"far too long for the schema"}}'`,
      /The Permit "one" is invalid: spec\.secretName: Too long: may not be more than 20 bytes/,
    ),
    says(
      `patch pm-$NS one --subresource=status --type=merge -p '{"status":{"replicas":2,"conditions":[{"type":"Ready","status":"True"}]}}'`,
      `permit.${group}/one patched`,
      { since: '1.24' },
    ),
    says('get pm-$NS', ['NAME READY SECRET AGE', 'one True again <age>'], { since: '1.24' }),
    says('get pm-$NS one --subresource=status -o jsonpath={.status.replicas}', '2', { since: '1.24' }),
    says('scale pm-$NS one --replicas=3', `permit.${group}/one scaled`),
    fails('scale pm-$NS one --current-replicas=9 --replicas=4', /Expected replicas to be 9, was 3/),
    says('get pm-$NS one -o jsonpath={.spec.replicas}', '3'),
    says('label pm-$NS one team=a', `permit.${group}/one labeled`),
    says('get pm-$NS -l team=a -o name', `permit.${group}/one`),
    says('describe pm-$NS one', [
      'Name: one',
      '...',
      `API Version: ${group}/v1`,
      'Kind: Permit',
      '...',
      '  Secret Name: again',
      '...',
    ]),
    fails('create -f -', /strict decoding error: unknown field "spec\.colour"/, {
      since: '1.25',
      stdin: permit('bad', ', colour: red'),
    }),
    fails(
      'create -f - --validate=false',
      /The Permit "bad" is invalid:.*spec\.issuer\.kind: Unsupported value: "Nobody": supported values: "Issuer", "ClusterIssuer"/,
      { stdin: permit('bad').replace('{name: root}', '{name: root, kind: Nobody}') },
    ),
    fails('create -f - --validate=false', 'The Permit "bad" is invalid: spec.secretName: Required value', {
      stdin: `apiVersion: ${group}/v1\nkind: Permit\nmetadata: {name: bad}\nspec: {}\n`,
    }),
    says(`delete crd permits.${group}`, gone),
  ],
}

export const customExplained: Session = {
  name: 'custom-explained',
  files: { 'crd.yaml': permits, 'one.yaml': permit('one') },
  steps: [
    says('apply -f crd.yaml', `${definition}/permits.${group} created`),
    says('apply -f crd.yaml', `${definition}/permits.${group} unchanged`),
    ...established('permits'),
    says('create -f one.yaml', `permit.${group}/one created`),
    says('delete pm-$NS one', /permit\.\$NS\.example\.com "one" deleted/),
    says('create -f one.yaml', `permit.${group}/one created`),
    fails('create -f one.yaml', new RegExp(`permits\\.\\$NS\\.example\\.com "one" already exists`)),
    says(
      'explain pm-$NS',
      [
        `GROUP: ${group}`,
        'KIND: Permit',
        'VERSION: v1',
        '',
        'DESCRIPTION:',
        '    Permit asks for a signed document and says where to put it.',
        '...',
        '  spec <Object>',
        '    What is asked for.',
        '...',
      ],
      { since: '1.27' },
    ),
    says(
      'explain pm-$NS.metadata',
      /DESCRIPTION:\s+Standard object's metadata[^]*creationTimestamp\s+<string>\s+CreationTimestamp is a timestamp/,
    ),
    says('explain pm-$NS', /apiVersion\s+<string>\s+APIVersion defines/),
    says('explain pm-$NS.spec.issuer.name', [
      '...',
      'KIND: Permit',
      'VERSION: <any>',
      '',
      'FIELD: name <string>',
      '...',
      /* The description is indented by the width of its time. */ '<any>The name of who signs.',
    ]),
    says(
      'explain pm-$NS --recursive',
      [
        '...',
        '  spec <Object>',
        '    issuer <Object>',
        '      kind <string>',
        '...',
        '      name <string>',
        '    names <[]string>',
        '...',
      ],
      { since: '1.27' },
    ),
    says(
      'explain pm-$NS --recursive',
      [
        '...',
        '   spec <Object>',
        '      issuer <Object>',
        '         kind <string>',
        '         name <string>',
        '      names <[]string>',
        '...',
      ],
      { until: '1.27' },
    ),
    says(`explain pm-$NS --api-version=${group}/v1alpha1`, /VERSION: +(?:\S+\/)?v1alpha1/),
    fails('explain pm-$NS.spec.nothing', 'error: field "nothing" does not exist'),
    says(`delete crd permits.${group}`, gone),
    fails(
      'get pm-$NS',
      /the server doesn't have a resource type "pm-|the server could not find the requested resource/,
    ),
    fails(
      `get crd permits.${group}`,
      new RegExp(`customresourcedefinitions\\.apiextensions\\.k8s\\.io "permits\\.\\$NS\\.example\\.com" not found`),
    ),
  ],
}

const fleets = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `fleets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'fleets', singular: 'fleet', kind: 'Fleet', shortNames: ['fl-$NS'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: bigSchema({ depth: 9, width: 2 }) } } },
      },
    ],
  },
})

const deepest = 'spec.part1.part0.part1.part0.part1.part0.part1.part0'
const fleet = `{"apiVersion":"${group}/v1","kind":"Fleet","metadata":{"name":"f"},"spec":{"part1":{"part0":{"mode":"Fast","ports":[{"number":1},{"number":2,"name":"b"}]}}}}`

export const customBig: Session = {
  name: 'custom-big',
  files: {
    'crd.json': fleets,
    'fleet.json': fleet,
    'other.json': fleet.replace('"mode":"Fast"', '"size":4').replace('{"number":1},', ''),
  },
  steps: [
    fails('apply -f crd.json', /metadata\.annotations: Too long: may not be more than 262144 bytes/),
    says('apply --server-side -f crd.json', `${definition}/fleets.${group} serverside-applied`),
    ...established('fleets'),
    says('create -f fleet.json', `fleet.${group}/f created`),
    says('apply --server-side --field-manager=other -f other.json', `fleet.${group}/f serverside-applied`, {
      since: '1.22',
    }),
    says(
      'get fl-$NS f -o jsonpath={.spec.part1.part0}',
      /^\{"mode":"Fast","ports":\[\{"number":1\},\{"name":"b","number":2\}\],"size":4\}$/,
      { since: '1.22' },
    ),
    fails(
      'create -f - --validate=false',
      /spec\.part1\.part0\.mode: Unsupported value: "Slow": supported values: "Fast", "Careful", "Off"/,
      { stdin: fleet.replace('Fast', 'Slow').replace('"f"', '"g"') },
    ),
    says(`explain fl-$NS.${deepest}.mode`, ['...', 'KIND: Fleet', '...', 'FIELD: mode <string>', '...']),
    says(`explain fl-$NS.${deepest} --recursive`, ['...', '  enabled <boolean>', '...'], { since: '1.27' }),
    says('apply --server-side -f crd.json', `${definition}/fleets.${group} serverside-applied`),
    says(`delete crd fleets.${group}`, gone),
  ],
}
