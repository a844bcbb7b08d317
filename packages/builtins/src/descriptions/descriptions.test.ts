import { expect, test } from 'vitest'
import type { SchemaNode } from 'evenkeel/unstable/builtins'
import { definitionTexts } from '../generated/definitions.ts'
import { builtinSchemas } from '../schemas.ts'
import { describeDefinition, packageTexts, parseTexts } from './descriptions.ts'

const names = Object.entries(definitionTexts).flatMap(([name, text]) =>
  Object.keys(JSON.parse(text) as object).map((type) => `${name}.${type}`),
)

const described = new Map(names.map((name) => [name, describeDefinition(name, builtinSchemas(name)!)]))

/** Every text with its place: the type, or the type and the field. */
const texts = [...described].flatMap(([name, node]) => [
  [name, node.description] as const,
  ...fieldsOf(node).map(([key, field]) => [`${name}.${key}`, field.description] as const),
])

function fieldsOf(node: SchemaNode): [string, SchemaNode][] {
  return Object.entries(node.properties ?? {})
}

test('every type and every field has a description', () => {
  expect(names.length).toBeGreaterThan(580)
  expect(texts.length).toBeGreaterThan(3000)
  expect(texts.filter(([, text]) => text === undefined).map(([place]) => place)).toEqual([])
})

test('a description is one line of ASCII that begins with a capital or a name and ends with a full stop', () => {
  const form = /^[A-Za-z0-9$*][\x20-\x7e]{5,}\.$/
  expect(texts.filter(([, text]) => text !== undefined && !form.test(text))).toEqual([])
})

test('a description says more than the name of its field', () => {
  const words = (text: string) => text.toLowerCase().replace(/\b(?:the|a|an|of|is)\b|[^a-z]/g, '')
  const empty = texts.filter(([place, text]) => words(text ?? '') === words(place.slice(place.lastIndexOf('.') + 1)))
  expect(empty).toEqual([])
})

test('every text belongs to a type and a field that exist', () => {
  const unused = Object.entries(packageTexts).flatMap(([name, parts]) =>
    parts.flatMap((part) =>
      parseTexts(name, part).flatMap(([type, { base, fields }]) => {
        const node = builtinSchemas(`${name}.${type}`)
        if (!node) return isScalarPackage(name) ? [] : [`${name}.${type}`]
        const unknown = [...fields.keys()].filter((key) => !(key in (node.properties ?? {})))
        const missing = base === undefined || builtinSchemas(base) ? [] : [base]
        return [...unknown.map((key) => `${name}.${type}.${key}`), ...missing]
      }),
    ),
  )
  expect(unused).toEqual([])
})

/** One text has the types of all packages without a version. */
function isScalarPackage(name: string): boolean {
  return !name.includes('.')
}

test('the allowed values are those of kube-apiserver 1.36: on a field, on its items or on its values', () => {
  const valuesOf = ({ items, additionalProperties, enum: own }: SchemaNode) =>
    own ?? items?.enum ?? (typeof additionalProperties === 'object' ? additionalProperties.enum : undefined)
  const fields = [...described.values()].flatMap(fieldsOf)
  expect(fields.filter(([, field]) => valuesOf(field) !== undefined)).toHaveLength(98)
  const pod = described.get('core.v1.PodSpec')?.properties
  expect(pod?.['restartPolicy']?.enum).toEqual(['Always', 'Never', 'OnFailure'])
  const claim = described.get('core.v1.PersistentVolumeClaimStatus')?.properties
  expect(claim?.['accessModes']?.items?.enum).toContain('ReadWriteOncePod')
  expect(claim?.['accessModes']?.enum).toBeUndefined()
  expect(claim?.['allocatedResourceStatuses']?.additionalProperties).toMatchObject({
    enum: expect.arrayContaining(['NodeResizePending']),
  })
  expect(described.get('core.v1.HostPathVolumeSource')?.properties?.['type']?.enum).toContain('')
})

test('a described definition keeps everything else and leaves the shared one as it is', () => {
  const plain = builtinSchemas('core.v1.PodSpec')!
  const { description, properties = {}, ...rest } = described.get('core.v1.PodSpec')!
  const { properties: _, ...plainRest } = plain
  expect(description).toMatch(/^Which containers/)
  expect(rest).toEqual(plainRest)
  expect(properties['affinity']).toEqual({ ...plain.properties?.['affinity'], description: expect.any(String) })
  expect(plain.description).toBeUndefined()
})

test('a list has the texts of all lists, and a type can take the texts of another', () => {
  expect(described.get('apps.v1.DeploymentList')?.description).toBe('A list of Deployment objects.')
  expect(described.get('core.v1.EphemeralContainer')?.properties?.['image']?.description).toBe(
    described.get('core.v1.Container')?.properties?.['image']?.description,
  )
  expect(described.get('apps.v1.DeploymentCondition')?.properties?.['status']?.description).toBe(
    'True, False or Unknown.',
  )
})

test('a type without texts is left as it is', () => {
  const node: SchemaNode = { type: 'object', properties: { a: { type: 'string' } } }
  expect(describeDefinition('core.v1.Nothing', node)).toBe(node)
  expect(describeDefinition('nothing.v9.Nothing', node)).toBe(node)
})

test('a line that is neither a type nor a field is an error', () => {
  expect(() => parseTexts('x.v1', 'Type without a text\n')).toThrow('x.v1: neither a type nor a field')
  expect(() => parseTexts('x.v1', 'T: Text.\n   deep: Text.\n')).toThrow('neither a type nor a field')
})
