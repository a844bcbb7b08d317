import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestCli } from '../fixtures/cli.fixture.ts'

const schema = {
  type: 'object',
  description: 'A place to sit.',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      description: 'What it shall be like.',
      required: ['legs'],
      properties: {
        legs: { type: 'integer', description: 'How many legs.', default: 4 },
        wood: { type: 'string', enum: ['oak', 'elm'], description: 'The wood\u001b[2J of it.' },
        height: { 'x-kubernetes-int-or-string': true },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        cushions: {
          type: 'array',
          items: { type: 'object', properties: { color: { type: 'string' } } },
        },
      },
    },
  },
}

let cli: TestCli
beforeAll(async () => {
  cli = await TestCli.start()
  await cli.apply({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'chairs.demo.test.dev' },
    spec: {
      group: 'demo.test.dev',
      scope: 'Namespaced',
      names: { plural: 'chairs', singular: 'chair', kind: 'Chair' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  await cli.typeUntil(['get', 'chairs'], /No objects/)
})
afterAll(() => cli.stop())

describe('explain', () => {
  test('F16: shows the fields of a kind with type, required, enum, default and description', async () => {
    const { out, code } = await cli.type(['explain', 'chair.spec'])
    expect(code).toBe(0)
    expect(out).toBe(`GROUP:      demo.test.dev
KIND:       Chair
VERSION:    v1

FIELD: spec <Object> -required-

DESCRIPTION:
    What it shall be like.

FIELDS:
  cushions\t<[]Object>
    <no description>

  height\t<IntOrString>
    <no description>

  labels\t<map[string]string>
    <no description>

  legs\t<integer> -required-
  default: 4
    How many legs.

  wood\t<string>
  enum: oak, elm
    The wood·[2J of it.
`)
  })

  test('F16: follows references, lists and maps, and knows the group of a kind', async () => {
    expect((await cli.type(['explain', 'deployment.spec.strategy'])).out).toMatch(
      /^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: strategy <DeploymentStrategy>\n[^]*\n {2}type\t<string>\n/,
    )
    expect((await cli.type(['explain', 'pod.spec.containers.image'])).out).toMatch(/\nFIELD: image <string>\n/)
    expect((await cli.type(['explain', 'chairs.demo.test.dev.spec.cushions.color'])).out).toMatch(
      /FIELD: color <string>/,
    )
    expect((await cli.type(['explain', 'cm'])).out).toMatch(/^KIND: +ConfigMap\nVERSION: +v1\n/)
    expect((await cli.type(['explain', 'deploy', '--api-version', 'apps/v1'])).code).toBe(0)
  })

  test('F16: a field shows its values, its default, and what its type says', async () => {
    expect((await cli.type(['explain', 'chair.spec.wood'])).out).toMatch(
      /\nFIELD: wood <string>\nENUM:\n {4}oak\n {4}elm\n\nDESCRIPTION:\n/,
    )
    expect((await cli.type(['explain', 'chair.spec.legs'])).out).toMatch(/ -required-\nDEFAULT:\n {4}4\n\nDESCRIPTION:/)
    const { out } = await cli.type(['explain', 'deployment.spec.strategy'])
    expect(out).toMatch(/DESCRIPTION:\n {4}\S[^\n]*\n {4}\S[^\n]*\n\nFIELDS:/)
    expect(out).not.toContain('default: {}')
  })

  test('F16: --recursive prints the tree of fields, also of a schema that refers to itself', async () => {
    expect((await cli.type(['explain', 'chair.spec', '--recursive'])).out).toContain(
      '\nFIELDS:\n  cushions\t<[]Object>\n    color\t<string>\n  height\t<IntOrString>\n',
    )
    const { out } = await cli.type(['explain', 'crd', '--recursive'])
    expect(out).toMatch(/\n +openAPIV3Schema\t<JSONSchemaProps>\n/)
  })

  test('F16: --json has the same facts', async () => {
    expect(JSON.parse((await cli.type(['explain', 'chair.spec.wood', '--json'])).out)).toEqual({
      group: 'demo.test.dev',
      version: 'v1',
      kind: 'Chair',
      path: 'spec.wood',
      type: 'string',
      required: false,
      description: 'The wood\u001b[2J of it.',
      enum: ['oak', 'elm'],
      fields: [],
    })
    expect(JSON.parse((await cli.type(['explain', 'chair', '--json', '--recursive'])).out)).toMatchObject({
      fields: expect.arrayContaining([
        expect.objectContaining({ name: 'spec', fields: expect.any(Array) as unknown[] }),
      ]) as unknown[],
    })
  })

  test.each([
    [
      'chair.spec.leg',
      2,
      'chair.spec has no field "leg"; its fields are cushions, height, labels, legs, wood\nTry: evenkeel explain chair.spec.legs\n',
    ],
    [
      'chair.spec.zzz',
      2,
      'chair.spec has no field "zzz"; its fields are cushions, height, labels, legs, wood\nTry: evenkeel explain chair.spec\n',
    ],
    ['chair.spec.wood.oak', 2, 'chair.spec.wood has no fields, so no "oak"\nTry: evenkeel explain chair.spec.wood\n'],
    ['chiar.spec', 1, 'the server has no kind called "chiar"\nTry: chair\n'],
  ])('F16: %s is an error with the nearest names', async (word, code, says) => {
    const said = await cli.type(['explain', word])
    expect(said).toMatchObject({ code, out: '' })
    expect(said.err).toContain(says)
  })

  test('F16: a version that the kind does not have names those it has', async () => {
    expect((await cli.type(['explain', 'deploy', '--api-version', 'apps/v2'])).err).toBe(
      'error[usage]: deploy has no version apps/v2\nTry: --api-version apps/v1\n',
    )
  })
})
