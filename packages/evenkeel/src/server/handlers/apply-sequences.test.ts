/**
 * Three managers write one object of a kind made by chance, in every way there is, and after each write what must hold
 * holds: whatever is there has an owner, applying again changes nothing, what a manager drops goes only if nobody else
 * wants it, and what the server says about managers it takes back unchanged.
 */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deepEqual, isJsonObject, managedFieldsAfterUpdate, managedFieldsError, wouldApplyChange } from '#api'
import type { JsonObject, JsonValue, ManagedFieldsEntry, SchemaNode } from '#api'
import { TestServer } from '../client.fixture.ts'
import { leavesOf, ownedByOthers, pathsOf, stepsOf, valueAt } from './managed-paths.fixture.ts'
import { randomKind, valueFor } from './random-kind.fixture.ts'

const runs = Number(process.env['EVENKEEL_RUNS'] ?? 25)

let tested: TestServer
beforeAll(async () => {
  tested = await TestServer.start()
})
afterAll(() => tested.server.stop())

interface Write {
  readonly op: 'apply' | 'force' | 'again' | 'update' | 'patch' | 'create'
  readonly manager: 'one' | 'two' | 'three'
  readonly spec: JsonObject
}

interface LiveObject extends JsonObject {
  readonly metadata: JsonObject & { readonly managedFields?: never; readonly resourceVersion: string }
}

const history = randomKind.chain(({ spec, hasStatus }) =>
  fc.record({
    schema: fc.constant<SchemaNode>({
      type: 'object',
      properties: { spec, status: { type: 'object', properties: { ready: { type: 'boolean' } } } },
    }),
    hasStatus: fc.constant(hasStatus),
    writes: fc.array(
      fc.record<Write>({
        op: fc.constantFrom('apply', 'apply', 'force', 'force', 'again', 'update', 'patch', 'create'),
        manager: fc.constantFrom('one', 'two', 'three'),
        spec: valueFor(spec) as fc.Arbitrary<JsonObject>,
      }),
      { minLength: 3, maxLength: 14 },
    ),
  }),
)

let kinds = 0

/** One object of one kind, and what was last applied to it by whom. */
class Scene {
  readonly schema: SchemaNode
  readonly hasStatus: boolean
  readonly applied = new Map<string, JsonObject>()
  readonly #plural = `kind${++kinds}s`

  constructor({ schema, hasStatus }: { schema: SchemaNode; hasStatus: boolean }) {
    this.schema = schema
    this.hasStatus = hasStatus
  }

  async define(): Promise<void> {
    const definition = {
      metadata: { name: `${this.#plural}.chance.example.com` },
      spec: {
        group: 'chance.example.com',
        scope: 'Namespaced',
        names: { plural: this.#plural, kind: 'Chance' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: this.schema },
            ...(this.hasStatus && { subresources: { status: {} } }),
          },
        ],
      },
    }
    expect(
      (await tested.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition }))
        .status,
    ).toBe(201)
  }

  object(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
    return { apiVersion: 'chance.example.com/v1', kind: 'Chance', metadata: { name: 'o', ...metadata }, spec }
  }

  send(method: string, rest: string, asked: { type?: string; body: unknown }): ReturnType<TestServer['ask']> {
    return tested.ask(method, `/apis/chance.example.com/v1/namespaces/default/${this.#plural}${rest}`, asked)
  }

  apply(manager: string, config: JsonObject, force: boolean): ReturnType<TestServer['ask']> {
    return this.send('PATCH', `/o?fieldManager=${manager}&force=${force}`, {
      type: 'application/apply-patch+yaml',
      body: config,
    })
  }

  async live(): Promise<LiveObject | undefined> {
    const { status, json } = await this.send('GET', '/o', { body: undefined })
    return status === 200 ? (json as unknown as LiveObject) : undefined
  }
}

const entriesOf = (object: JsonObject | undefined): readonly ManagedFieldsEntry[] =>
  (object?.['metadata'] as { managedFields?: readonly ManagedFieldsEntry[] } | undefined)?.managedFields ?? []

async function take(scene: Scene, { op, manager, spec }: Write): Promise<void> {
  const before = await scene.live()
  switch (op) {
    case 'create':
      await scene.send('POST', `?fieldManager=${manager}`, { body: scene.object(spec) })
      return
    case 'update':
      if (before) await scene.send('PUT', `/o?fieldManager=${manager}`, { body: { ...before, spec } })
      return
    case 'patch':
      await scene.send('PATCH', `/o?fieldManager=${manager}`, {
        type: 'application/merge-patch+json',
        body: { spec: { ...spec, a: null } },
      })
      return
    default:
      await takeApply(scene, { op, manager, spec }, before)
  }
}

async function takeApply(scene: Scene, { op, manager, spec }: Write, before: LiveObject | undefined): Promise<void> {
  const config = op === 'again' ? (scene.applied.get(manager) ?? scene.object(spec)) : scene.object(spec)
  const { schema, hasStatus } = scene
  const [exact, careful] = before
    ? [wouldApplyChange(before, config, { manager, schema, hasStatus }), wouldApplyChange(before, config, { manager })]
    : [true, true]
  const { status, json } = await scene.apply(manager, config, op !== 'apply')
  const isQuiet =
    status === 200 && (json['metadata']?.['resourceVersion'] as unknown) === before?.metadata.resourceVersion
  expect(exact).toBe(!isQuiet)
  if (!careful) expect(isQuiet).toBe(true)
  if (status >= 300) return
  const again = await scene.apply(manager, config, op !== 'apply')
  expect(again).toMatchObject({
    status: 200,
    json: { metadata: { resourceVersion: json['metadata']?.['resourceVersion'] } },
  })
  checkDropped(before, again.json, { manager })
  scene.applied.set(manager, config)
}

/** What a manager no longer applies is gone, unless another one owns it; what another one owns is as it was. */
function checkDropped(before: JsonObject | undefined, after: JsonObject, { manager }: { manager: string }): void {
  if (!before) return
  const isMine = (entry: ManagedFieldsEntry): boolean => entry.manager === manager && entry.operation === 'Apply'
  const owned = (object: JsonObject): ReturnType<typeof pathsOf> => pathsOf(entriesOf(object).find(isMine)?.fieldsV1)
  const others = ownedByOthers(entriesOf(before), isMine)
  const still = owned(after)
  for (const path of owned(before)) {
    const isPlain = stepsOf(path).every((step) => step.startsWith('f:') && !step.startsWith('f:d'))
    if (!isPlain || touches(still, path)) continue
    const isShared = touches(others, path)
    if (!isShared) expect({ path, value: valueAt(after, path) }).toEqual({ path, value: undefined })
    else if (others.has(path) && !isContainer(valueAt(before, path)))
      expect({ path, value: valueAt(after, path) }).toEqual({ path, value: valueAt(before, path) })
  }
}

/** Whether a path, something above it or something below it is among others. */
function touches(paths: ReturnType<typeof pathsOf>, path: string): boolean {
  return [...paths].some(
    (other) => other === path || other.startsWith(`${path.slice(0, -1)},`) || path.startsWith(`${other.slice(0, -1)},`),
  )
}

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Everything that is there belongs to somebody, but for defaults, and for containers that somebody emptied. */
function checkOwned(object: JsonObject, schema: SchemaNode): void {
  const { managedFields: _, ...metadata } = object['metadata'] as JsonObject
  const root = {
    ...schema,
    properties: {
      apiVersion: { type: 'string' as const },
      kind: { type: 'string' as const },
      metadata: { type: 'object' as const, 'x-kubernetes-preserve-unknown-fields': true },
      ...schema.properties,
    },
  }
  const [all] =
    managedFieldsAfterUpdate({
      manager: 'x',
      apiVersion: 'chance.example.com/v1',
      nowMs: 0,
      schema: { root, definitions: () => undefined },
      live: undefined,
      next: filled({ ...object, metadata }) as JsonObject,
    }) ?? []
  const owned = ownedByOthers(entriesOf(object), () => false)
  const lost = leavesOf(all?.fieldsV1).filter(
    (path) =>
      !owned.has(path) &&
      !hasOwnerAbove(path, owned) &&
      !stepsOf(path).some((step) => step === 'f:metadata' || /^f:d/.test(step)),
  )
  expect(lost).toEqual([])
}

/** A value without what is empty. */
function filled(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item: JsonValue) => filled(item) ?? item)
  if (!isJsonObject(value)) return value
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const rest = field === undefined ? undefined : filled(field)
    return rest === undefined ? [] : [[name, rest] as const]
  })
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}

/** A container that was empty has an owner by itself; so has one that holds nothing but defaults. */
function hasOwnerAbove(path: string, owned: ReturnType<typeof pathsOf>): boolean {
  const steps = stepsOf(path)
  return steps.some((_, index) => index > 0 && owned.has(JSON.stringify(steps.slice(0, index))))
}

async function checkTakenBack(scene: Scene, object: LiveObject): Promise<void> {
  expect(managedFieldsError(entriesOf(object))).toBeUndefined()
  const back = await scene.send('PUT', '/o?fieldManager=anybody', { body: object })
  expect(back.status).toBe(200)
  expect(deepEqual(back.json, object)).toBe(true)
}

test(
  `managers of random kinds keep their promises through random writes (${runs} histories)`,
  async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ writes, ...kind }) => {
        const scene = new Scene(kind)
        await scene.define()
        for (const write of writes) {
          await take(scene, write)
          await tested.clock.advance(1000)
          const object = await scene.live()
          if (!object) continue
          checkOwned(object, kind.schema)
          await checkTakenBack(scene, object)
        }
      }),
      { numRuns: runs },
    )
  },
  60_000 + runs * 500,
)
