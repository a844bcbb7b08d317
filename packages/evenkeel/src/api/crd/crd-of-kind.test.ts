import { type } from 'arktype'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { declareKind, defineKind } from '../kind/define-kind.ts'
import { crdOf } from './crd-of-kind.ts'

const names = { group: 'demo.example.com', version: 'v1', kind: 'Website' }

describe('definitionOf', () => {
  test('makes a whole manifest', () => {
    const Website = defineKind({
      ...names,
      shortNames: ['web'],
      spec: z.object({ url: z.url(), replicas: z.int().min(0).default(1) }),
      status: z.object({ ready: z.boolean() }),
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      printerColumns: [{ name: 'URL', type: 'string', jsonPath: '.spec.url' }],
      selectableFields: ['.spec.url'],
    })
    expect(crdOf(Website)).toEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'websites.demo.example.com' },
      spec: {
        group: 'demo.example.com',
        scope: 'Namespaced',
        conversion: { strategy: 'None' },
        names: {
          plural: 'websites',
          singular: 'website',
          kind: 'Website',
          listKind: 'WebsiteList',
          shortNames: ['web'],
        },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                required: ['spec'],
                properties: {
                  apiVersion: { type: 'string' },
                  kind: { type: 'string' },
                  metadata: { type: 'object' },
                  spec: {
                    type: 'object',
                    properties: {
                      url: { type: 'string', format: 'uri' },
                      replicas: { type: 'integer', minimum: 0, default: 1 },
                    },
                    required: ['url'],
                  },
                  status: {
                    type: 'object',
                    properties: {
                      ready: { type: 'boolean' },
                      conditions: expect.objectContaining({ type: 'array', 'x-kubernetes-list-map-keys': ['type'] }),
                      observedGeneration: expect.objectContaining({ type: 'integer' }),
                    },
                  },
                },
              },
            },
            subresources: {
              status: {},
              scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
            },
            additionalPrinterColumns: [{ name: 'URL', type: 'string', jsonPath: '.spec.url' }],
            selectableFields: [{ jsonPath: '.spec.url' }],
          },
        ],
      },
    })
  })

  test.each([
    [
      'zod',
      z.object({
        a: z.union([z.literal('x'), z.literal('y')]),
        b: z.string().nullable(),
        c: z.record(z.string(), z.int()),
      }),
    ],
    ['arktype', type({ a: '"x" | "y"', b: 'string | null', c: 'Record<string, number.integer>' })],
    [
      'typebox',
      Type.Object({
        a: Type.Union([Type.Literal('x'), Type.Literal('y')]),
        b: Type.Union([Type.String(), Type.Null()]),
        c: Type.Record(Type.String(), Type.Integer()),
      }),
    ],
  ])('says the same for the same type in %s', (_, spec) => {
    const versions = (
      crdOf(defineKind({ ...names, spec: spec as never }))['spec'] as {
        versions: { schema: { openAPIV3Schema: { properties: { spec: unknown } } } }[]
      }
    ).versions
    expect(versions[0]?.schema.openAPIV3Schema.properties.spec).toEqual({
      type: 'object',
      required: ['a', 'b', 'c'],
      properties: {
        a: { type: 'string', enum: ['x', 'y'] },
        b: { type: 'string', nullable: true },
        c: { type: 'object', additionalProperties: { type: 'integer' } },
      },
    })
  })

  test('refuses what a custom resource cannot be, by path', () => {
    expect(() => crdOf(declareKind({ group: 'apps', version: 'v1', kind: 'Deployment' }))).toThrow(
      'Deployment has no schema, so it cannot be defined: make it with defineKind',
    )
    expect(() => crdOf(defineKind({ ...names, spec: z.object({ a: z.union([z.string(), z.boolean()]) }) }))).toThrow(
      /^Website\.spec\.a may be of type string or boolean/,
    )
    expect(() =>
      crdOf(defineKind({ ...names, spec: z.object({ a: z.string() }), selectableFields: ['.spec.b'] })),
    ).toThrow(
      'Website cannot be a custom resource: spec.selectableFields[0].jsonPath: Invalid value: ".spec.b": is an invalid path: does not refer to a valid field',
    )
  })
})
