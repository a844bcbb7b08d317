import { describe, expect, test } from 'vitest'
import type { JsonObject } from '@evenkeel/cel/primitives'
import { fieldError, formatFieldError } from '../errors/field-error.ts'
import { validateCrd, type ValidateCrdOptions } from './crd.ts'

const names = { plural: 'shapes', singular: 'shape', kind: 'Shape', listKind: 'ShapeList' }
const version = (name: string, more: JsonObject = {}): JsonObject => {
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { [name]: { type: 'string' } } } },
  }
  return { name, served: true, storage: false, schema: { openAPIV3Schema }, ...more }
}
const stored = { storage: true }
const spec = {
  group: 'a.b',
  scope: 'Namespaced',
  names,
  versions: [version('v1', stored)],
  conversion: { strategy: 'None' },
}
const definition = (more: JsonObject = {}, rest: JsonObject = {}): JsonObject => ({
  metadata: { name: 'shapes.a.b' },
  spec: { ...spec, ...more },
  status: { storedVersions: ['v1'] },
  ...rest,
})

/** The complaints, without values that are whole schemas and without what names may look like. */
function complaints(object: JsonObject, options?: ValidateCrdOptions): string[] {
  return validateCrd(object, options)
    .map((error) =>
      formatFieldError(error)
        .replace(/(: Invalid value: )\[.*\](: must)/, '$1…$2')
        .split(' (e.g.', 1)
        .join(''),
    )
    .sort()
}

const label =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"

describe('validateDefinition', () => {
  test('finds nothing wrong with a plain definition', () => {
    expect(complaints(definition())).toEqual([])
  })

  test.each<{ name: string; more: JsonObject; rest?: JsonObject; errors: string[] }>([
    {
      name: 'another name',
      more: {},
      rest: { metadata: { name: 'x.a.b' } },
      errors: ['metadata.name: Invalid value: "x.a.b": must be spec.names.plural+"."+spec.group'],
    },
    {
      name: 'a group without a dot',
      more: { group: 'a' },
      rest: { metadata: { name: 'shapes.a' } },
      errors: ['spec.group: Invalid value: "a": should be a domain with at least one dot'],
    },
    {
      name: 'no group',
      more: { group: '' },
      rest: { metadata: { name: 'shapes.' } },
      errors: ['spec.group: Required value'],
    },
    { name: 'no scope', more: { scope: '' }, errors: ['spec.scope: Required value'] },
    {
      name: 'another scope',
      more: { scope: 'Galaxy' },
      errors: ['spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'],
    },
    {
      name: 'a list that is called like its items',
      more: { names: { ...names, listKind: 'Shape' } },
      errors: ['spec.names.listKind: Invalid value: "Shape": kind and listKind may not be the same'],
    },
    {
      name: 'missing names',
      more: { names: { plural: 'shapes' } },
      errors: [
        'spec.names.kind: Required value',
        'spec.names.listKind: Required value',
        'spec.names.singular: Required value',
      ],
    },
    {
      name: 'odd names',
      more: { names: { ...names, kind: 'S_', shortNames: ['A'] } },
      errors: [
        `spec.names.kind: Invalid value: "S_": may have mixed case, but should otherwise match: ${label}`,
        `spec.names.shortNames[0]: Invalid value: "A": ${label}`,
      ],
    },
    {
      name: 'no version',
      more: { versions: [] },
      rest: { status: {} },
      errors: [
        'spec.versions: Invalid value: …: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: null: must have at least one stored version',
      ],
    },
    {
      name: 'two stored versions',
      more: { versions: [version('v1', stored), version('v2', stored)] },
      errors: [
        'spec.versions: Invalid value: …: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: …: must have the storage version v2',
      ],
    },
    {
      name: 'the same version twice',
      more: { versions: [version('v1', stored), version('v1')] },
      errors: ['spec.versions: Invalid value: …: must contain unique version names'],
    },
    {
      name: 'versions without schema',
      more: { versions: [{ name: 'v1', served: true, storage: true }] },
      errors: ['spec.versions[0].schema.openAPIV3Schema: Required value'],
    },
    {
      name: 'a warning about nothing',
      more: { versions: [version('v1', { ...stored, deprecationWarning: 'x' })] },
      errors: ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
    },
    {
      name: 'a warning of two lines',
      more: { versions: [version('v1', { ...stored, deprecated: true, deprecationWarning: 'é\n' })] },
      errors: [
        'spec.versions[0].deprecationWarning: Invalid value: "é\\n": must only contain printable UTF-8 characters; non-printable character found at index 2',
      ],
    },
    {
      name: 'a version that was stored and is gone',
      more: {},
      rest: { status: { storedVersions: ['v0', 'v1'] } },
      errors: [
        'status.storedVersions[0]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v0 and removes v0 from status.storedVersions',
      ],
    },
    {
      name: 'unknown fields everywhere',
      more: { preserveUnknownFields: true },
      errors: [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    },
    {
      name: 'a protected group',
      more: { group: 'k8s.io' },
      rest: { metadata: { name: 'shapes.k8s.io' } },
      errors: [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    },
    {
      name: 'another strategy',
      more: { conversion: { strategy: 'Magic' } },
      errors: ['spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
    },
    {
      name: 'a webhook that is nowhere',
      more: { conversion: { strategy: 'Webhook' } },
      errors: [
        'spec.conversion.conversionReviewVersions: Required value',
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
      ],
    },
    {
      name: 'reviews nobody understands',
      more: {
        conversion: { strategy: 'Webhook', webhook: { clientConfig: {}, conversionReviewVersions: ['v9', 'v9'] } },
      },
      errors: [
        'spec.conversion.conversionReviewVersions: Invalid value: …: must include at least one of v1, v1beta1',
        'spec.conversion.conversionReviewVersions[1]: Invalid value: "v9": duplicate version',
      ],
    },
    {
      name: 'a webhook without use',
      more: { conversion: { strategy: 'None', webhook: { clientConfig: {}, conversionReviewVersions: ['v1'] } } },
      errors: [
        'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
        'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
      ],
    },
    {
      name: 'granted names',
      more: {},
      rest: { status: { storedVersions: ['v1'], acceptedNames: { plural: 'shapes', kind: 'Y', listKind: 'Y' } } },
      errors: ['status.acceptedNames.listKind: Invalid value: "Y": kind and listKind may not be the same'],
    },
    {
      name: 'scale without paths',
      more: { versions: [version('v1', { ...stored, subresources: { scale: {} } })] },
      errors: [
        'spec.subresources.scale.specReplicasPath: Required value',
        'spec.subresources.scale.statusReplicasPath: Required value',
      ],
    },
    {
      name: 'scale with paths elsewhere',
      more: {
        versions: [
          version('v1', {
            ...stored,
            subresources: { scale: { specReplicasPath: '.x', statusReplicasPath: 'x', labelSelectorPath: '.x' } },
          }),
        ],
      },
      errors: [
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
        'spec.subresources.scale.specReplicasPath: Invalid value: ".x": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Invalid value: "x": must be a simple json path starting with .',
      ],
    },
    {
      name: 'an empty column',
      more: { versions: [version('v1', { ...stored, additionalPrinterColumns: [{}] }), version('v2')] },
      errors: [
        'spec.versions[0].additionalPrinterColumns[0].JSONPath: Required value',
        'spec.versions[0].additionalPrinterColumns[0].name: Required value',
        'spec.versions[0].additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
      ],
    },
    {
      name: 'an odd column',
      more: {
        versions: [
          version('v1', {
            ...stored,
            additionalPrinterColumns: [{ name: 'a', type: 'x', format: 'y', jsonPath: 'z' }],
          }),
        ],
      },
      errors: [
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "z": must be a simple json path starting with .',
        'spec.additionalPrinterColumns[0].format: Invalid value: "y": must be one of byte,date,date-time,double,float,int32,int64,password',
        'spec.additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string',
      ],
    },
    {
      name: 'selectable fields of one version',
      more: { versions: [version('v1', { ...stored, selectableFields: [{ jsonPath: '.spec.v2' }] }), version('v2')] },
      errors: [
        'spec.versions[0].selectableFields[0].jsonPath: Invalid value: ".spec.v2": is an invalid path: does not refer to a valid field',
      ],
    },
  ])('complains of $name', ({ more, rest, errors }) => {
    expect(complaints(definition(more, rest))).toEqual(errors)
  })

  test('names schemas by version only where versions differ', () => {
    const broken = { schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } }
    const detail = 'properties[a].type: Required value: must not be empty for specified object fields'
    expect(
      complaints(definition({ versions: [version('v1', { ...stored, ...broken }), version('v2', broken)] })),
    ).toEqual([`spec.validation.openAPIV3Schema.${detail}`])
    expect(complaints(definition({ versions: [version('v1', stored), version('v2', broken)] }))).toEqual([
      `spec.versions[1].schema.openAPIV3Schema.${detail}`,
    ])
  })

  test.each(['unapproved, for us only', 'https://github.com/x/y/pull/1'])('takes the approval %s', (approval) => {
    const metadata = { name: 'shapes.x.k8s.io', annotations: { 'api-approved.kubernetes.io': approval } }
    expect(complaints(definition({ group: 'x.k8s.io' }, { metadata }))).toEqual([])
    const odd = { ...metadata, annotations: { 'api-approved.kubernetes.io': 'sure' } }
    expect(complaints(definition({ group: 'x.k8s.io' }, { metadata: odd }))).toEqual([
      expect.stringContaining('with either a URL or a reason starting with "unapproved"'),
    ])
  })

  test('leaves the place of a webhook to who knows webhooks', () => {
    const conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'x' }, conversionReviewVersions: ['v1'] },
    }
    expect(
      complaints(definition({ conversion }), {
        checkClientConfig: (config, path) => [fieldError.invalid(path, config['url'], 'no')],
      }),
    ).toEqual(['spec.conversion.webhookClientConfig: Invalid value: "x": no'])
  })
})

describe('validateDefinition of an update', () => {
  const established = { status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] } }

  test('keeps scope and kind once objects may exist', () => {
    const changed = { scope: 'Cluster', names: { ...names, kind: 'Form' } }
    expect(complaints(definition(changed, established), { old: definition({}, established) })).toEqual([
      'spec.names.kind: Invalid value: "Form": field is immutable',
      'spec.scope: Invalid value: "Cluster": field is immutable',
    ])
    expect(complaints(definition(changed), { old: definition() })).toEqual([])
  })

  test('keeps group and plural always', () => {
    expect(
      complaints(definition({ group: 'c.d', names: { ...names, plural: 'forms' } }), { old: definition() }),
    ).toEqual([
      'spec.group: Invalid value: "c.d": field is immutable',
      'spec.names.plural: Invalid value: "forms": field is immutable',
    ])
  })

  test('refuses to preserve unknown fields in an update of a definition that did not', () => {
    expect(complaints(definition({ preserveUnknownFields: true }), { old: definition() })).toEqual([
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ])
  })

  test('bears what was there before', () => {
    expect(
      complaints(definition({ preserveUnknownFields: true }), { old: definition({ preserveUnknownFields: true }) }),
    ).toEqual([])
    const metadata = { name: 'shapes.k8s.io' }
    expect(
      complaints(definition({ group: 'k8s.io' }, { metadata }), { old: definition({ group: 'k8s.io' }, { metadata }) }),
    ).toEqual([])
  })
})
