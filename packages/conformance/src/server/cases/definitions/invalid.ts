/**
 * Invalid CRDs: every violation is reported with its path, all in one response.
 */
import assert from 'node:assert/strict'
import { expectStatus } from '../../expect.ts'
import { definitionIn } from '../../custom.ts'
import type { CustomOptions } from '../../custom.ts'
import { laidOver } from '../../samples.ts'
import type { Fields } from '../../samples.ts'
import { causesOf } from '../../causes.ts'
import type { ServerCase } from '../../target.ts'

export interface Mistake {
  readonly id: string
  readonly rule: string
  readonly options: CustomOptions
  /** Merged into the whole CRD. */
  readonly over?: Fields
  /** `~` stands for the path of `spec` in the schema. */
  readonly causes: readonly string[]
}

const label =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const under = 'spec.validation.openAPIV3Schema.properties[spec].'
const v1 = { name: 'v1', served: true, storage: true }

/** Everything of a CRD outside the schemas. */
const mistakes: readonly Mistake[] = [
  {
    id: 'name',
    rule: 'A CRD is named after its plural and group.',
    options: {},
    over: { metadata: { name: 'others.example.com' } },
    causes: ['metadata.name: Invalid value: "others.example.com": must be spec.names.plural+"."+spec.group'],
  },
  {
    id: 'group-without-dot',
    rule: 'The group of a CRD must contain a dot.',
    options: { more: { group: 'nodot' } },
    over: { metadata: { name: 'widgets.nodot' } },
    causes: ['spec.group: Invalid value: "nodot": should be a domain with at least one dot'],
  },
  {
    id: 'group-missing',
    rule: 'A CRD needs group, scope, names and versions.',
    options: {},
    over: { spec: { group: '', scope: '', names: { plural: '', kind: '' }, versions: [] } },
    causes: [
      'metadata.name: Invalid value: "widgets.$NS.example.com": must be spec.names.plural+"."+spec.group',
      'spec.group: Required value',
      'spec.names.kind: Required value',
      'spec.names.listKind: Required value',
      'spec.names.plural: Required value',
      'spec.names.singular: Required value',
      'spec.scope: Required value',
      'spec.versions: Invalid value: … : must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: null: must have at least one stored version',
    ],
  },
  {
    id: 'list-kind',
    rule: 'listKind must differ from kind.',
    options: { names: { listKind: 'Widget' } },
    causes: ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
  },
  {
    id: 'scope',
    rule: 'The scope is Namespaced or Cluster.',
    options: { scope: 'Everywhere' as never },
    causes: ['spec.scope: Unsupported value: "Everywhere": supported values: "Cluster", "Namespaced"'],
  },
  {
    id: 'names',
    rule: 'Plural, singular, short names, categories and kinds are DNS labels.',
    options: {
      names: { singular: 'Wi dget', shortNames: ['UP'], categories: ['a b'], kind: 'wid_get', listKind: '1List' },
    },
    causes: [
      `spec.names.categories[0]: Invalid value: "a b": ${label}`,
      `spec.names.kind: Invalid value: "wid_get": may have mixed case, but should otherwise match: ${label}`,
      `spec.names.listKind: Invalid value: "1List": may have mixed case, but should otherwise match: ${label}`,
      `spec.names.shortNames[0]: Invalid value: "UP": ${label}`,
      `spec.names.singular: Invalid value: "Wi dget": ${label}`,
    ],
  },
  {
    id: 'no-storage',
    rule: 'Exactly one version is stored: no stored version is an error.',
    options: { versions: [{ ...v1, storage: false }] },
    causes: [
      'spec.versions: Invalid value: … : must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: null: must have at least one stored version',
    ],
  },
  {
    id: 'two-storages',
    rule: 'Exactly one version is stored: two stored versions are an error.',
    options: { versions: [v1, { ...v1, name: 'v2' }] },
    causes: [
      'spec.versions: Invalid value: … : must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: … : must have the storage version v2',
    ],
  },
  {
    id: 'twice-the-version',
    rule: 'Version names must be unique.',
    options: { versions: [v1, { ...v1, storage: false }] },
    causes: ['spec.versions: Invalid value: … : must contain unique version names'],
  },
  {
    id: 'version-name',
    rule: 'The name of a version is a DNS label.',
    options: { versions: [{ ...v1, name: 'V_1' }] },
    causes: [`spec.version: Invalid value: "V_1": ${label}`, `spec.versions[0].name: Invalid value: "V_1": ${label}`],
  },
  {
    id: 'no-schema',
    rule: 'Every version needs a schema.',
    options: {
      versions: [
        { ...v1, schema: undefined },
        { ...v1, name: 'v2', storage: false, schema: {} },
      ],
    },
    causes: [
      'spec.versions[0].schema.openAPIV3Schema: Required value',
      'spec.versions[1].schema.openAPIV3Schema: Required value',
    ],
  },
  {
    id: 'preserve-unknown-everywhere',
    rule: 'preserveUnknownFields: true is rejected: the schema sets x-kubernetes-preserve-unknown-fields instead.',
    options: { more: { preserveUnknownFields: true } },
    causes: [
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  },
  {
    id: 'strategy',
    rule: 'The conversion strategy is None or Webhook.',
    options: { more: { conversion: { strategy: 'Magic' } } },
    causes: ['spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
  },
  {
    id: 'strategy-none-with-webhook',
    rule: 'Strategy None must not name a webhook.',
    options: {
      more: {
        conversion: {
          strategy: 'None',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1/' } },
        },
      },
    },
    causes: [
      'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
      'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
    ],
  },
  {
    id: 'webhook-missing',
    rule: 'Strategy Webhook needs a webhook.',
    options: { more: { conversion: { strategy: 'Webhook' } } },
    causes: [
      'spec.conversion.conversionReviewVersions: Required value',
      'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
    ],
  },
  {
    id: 'webhook-client',
    rule: 'A conversion webhook needs exactly one address and a review version that the server knows.',
    options: {
      more: {
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v9'],
            clientConfig: { url: 'http://example.com/?a=b', service: { name: 's', namespace: 'n' } },
          },
        },
      },
    },
    causes: [
      'spec.conversion.conversionReviewVersions: Invalid value: … : must include at least one of v1, v1beta1',
      'spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required',
    ],
  },
  {
    id: 'deprecation-warning',
    rule: 'A deprecation warning needs a deprecated version and is one short line.',
    options: { version: { deprecationWarning: 'old\nvery' } },
    causes: [
      'spec.versions[0].deprecationWarning: Invalid value: "old\\nvery": can only be set for deprecated versions',
    ],
  },
  {
    id: 'columns',
    rule: 'A printer column needs a name, a valid type and a path.',
    options: {
      version: {
        additionalPrinterColumns: [
          { name: '', type: 'colour', jsonPath: 'spec' },
          { name: 'B', type: 'string', format: 'magic', jsonPath: '' },
        ],
      },
    },
    causes: [
      'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
      'spec.additionalPrinterColumns[0].name: Required value',
      'spec.additionalPrinterColumns[0].type: Invalid value: "colour": must be one of boolean,date,integer,number,string',
      'spec.additionalPrinterColumns[1].JSONPath: Required value',
      'spec.additionalPrinterColumns[1].format: Invalid value: "magic": must be one of byte,date,date-time,double,float,int32,int64,password',
    ],
  },
  {
    id: 'scale-paths',
    rule: 'Scale needs paths under spec and status.',
    options: {
      version: {
        subresources: {
          scale: {
            specReplicasPath: '.status.replicas',
            statusReplicasPath: '.spec.replicas',
            labelSelectorPath: '.metadata.labels',
          },
        },
      },
    },
    causes: [
      'spec.subresources.scale.labelSelectorPath: Invalid value: ".metadata.labels": should be a json path under either .spec or .status',
      'spec.subresources.scale.specReplicasPath: Invalid value: ".status.replicas": should be a json path under .spec',
      'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.replicas": should be a json path under .status',
    ],
  },
  {
    id: 'scale-paths-missing',
    rule: 'Scale needs both paths, and neither may go through a list.',
    options: { version: { subresources: { scale: { specReplicasPath: '', statusReplicasPath: '.status.list[0]' } } } },
    causes: ['spec.subresources.scale.specReplicasPath: Required value'],
  },
  {
    id: 'selectable-fields',
    rule: 'A selectable field is a primitive field of the schema, listed once, and not in metadata.',
    options: {
      spec: {
        type: 'object',
        properties: { a: { type: 'string' }, o: { type: 'object' }, l: { type: 'array', items: { type: 'string' } } },
      },
      version: {
        selectableFields: [
          { jsonPath: '.spec.a' },
          { jsonPath: '.spec.a' },
          { jsonPath: '.spec.o' },
          { jsonPath: '.spec.l' },
          { jsonPath: '.spec.none' },
          { jsonPath: '.metadata.name' },
          { jsonPath: '' },
          { jsonPath: 'spec.a' },
        ],
      },
    },
    causes: [
      'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"',
      'spec.selectableFields[2].jsonPath: Invalid value: ".spec.o": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[3].jsonPath: Invalid value: ".spec.l": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[4].jsonPath: Invalid value: ".spec.none": is an invalid path: does not refer to a valid field',
      'spec.selectableFields[5].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field',
      'spec.selectableFields[6].jsonPath: Required value',
      'spec.selectableFields[7].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec',
    ],
  },
  {
    id: 'too-many-selectable-fields',
    rule: 'A version has at most eight selectable fields.',
    options: {
      spec: {
        type: 'object',
        properties: Object.fromEntries([...'abcdefghi'].map((name) => [name, { type: 'string' }])),
      },
      version: { selectableFields: [...'abcdefghi'].map((name) => ({ jsonPath: `.spec.${name}` })) },
    },
    causes: ['spec.selectableFields: Too many: 9: must have at most 8 items'],
  },
  {
    id: 'protected-group',
    rule: 'A group under k8s.io needs an approval annotation.',
    options: { more: { group: 'judge.k8s.io' } },
    over: { metadata: { name: 'widgets.judge.k8s.io' } },
    causes: [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  },
]

export function mistakeCase({ id, rule, options, over = {}, causes }: Mistake): ServerCase {
  return {
    id: `server/definitions/${id}`,
    rule,
    async run(place) {
      const answer = await place.post('customresourcedefinitions', laidOver(definitionIn(place, options), over))
      expectStatus(answer, {
        code: 422,
        reason: 'Invalid',
        details: { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
      })
      assert.deepEqual(causesOf(answer, place), causes.map((cause) => cause.replace(/^~/, under)).sort())
    },
  }
}

export const definitionMistakeCases: readonly ServerCase[] = mistakes.map(mistakeCase)
