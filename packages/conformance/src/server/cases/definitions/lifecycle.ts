/**
 * The lifecycle of a CRD: acceptance, changes, deletion of instances, removal.
 */
import assert from 'node:assert/strict'
import { causesOf } from '../../causes.ts'
import { defineCustom, definitionIn, eventually, groupIn, hasCondition, withSpec } from '../../custom.ts'
import type { Custom } from '../../custom.ts'
import { brief, expectMatch, expectStatus, isNewer, namesOf, ok } from '../../expect.ts'
import type { Place, ServerCase } from '../../target.ts'

const object = { type: 'object' }
const finalizers = ['example.com/hold']

/** The condition of a CRD by its type. */
async function conditionOf(place: Place, [name, type]: readonly [string, string], status: string): Promise<unknown> {
  const answer = await eventually(
    () => place.get('customresourcedefinitions', name),
    ({ json }) => hasCondition(json, type, status),
  )
  return (answer.json.status['conditions'] as readonly { type: string }[]).find((one) => one.type === type)
}

function goneEventually(custom: Custom): Promise<unknown> {
  return eventually(
    () => custom.place.get('customresourcedefinitions', custom.name),
    ({ status }) => status === 404,
  )
}

const birth: readonly ServerCase[] = [
  {
    id: 'server/definitions/defaults',
    rule: 'Singular and listKind default to the kind, and the conversion strategy to None.',
    async run(place) {
      const made = ok(await place.post('customresourcedefinitions', definitionIn(place)), 201)
      expectMatch(made.spec, {
        names: { singular: 'widget', listKind: 'WidgetList', shortNames: undefined },
        conversion: { strategy: 'None' },
        preserveUnknownFields: undefined,
      })
      expectMatch(made, { metadata: { generation: 1, finalizers: undefined }, status: { storedVersions: ['v1'] } })
    },
  },
  {
    id: 'server/definitions/conditions',
    rule: 'A CRD without conflicts gets its names accepted and is then established.',
    async run(place) {
      const { name } = await defineCustom(place, { names: { shortNames: ['wd'], categories: ['all'] } })
      expectMatch(await conditionOf(place, [name, 'NamesAccepted'], 'True'), {
        reason: 'NoConflicts',
        message: 'no conflicts found',
        lastTransitionTime: /Z$/,
      })
      expectMatch(await conditionOf(place, [name, 'Established'], 'True'), {
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
        lastTransitionTime: /Z$/,
      })
      expectMatch(ok(await place.get('customresourcedefinitions', name)).status, {
        storedVersions: ['v1'],
        acceptedNames: {
          plural: 'widgets',
          singular: 'widget',
          kind: 'Widget',
          listKind: 'WidgetList',
          shortNames: ['wd'],
          categories: ['all'],
        },
      })
    },
  },
  {
    id: 'server/definitions/status-is-the-servers',
    rule: 'The server ignores the status of a new CRD.',
    async run(place) {
      const made = ok(
        await place.post('customresourcedefinitions', {
          ...definitionIn(place),
          status: { storedVersions: ['v7'], acceptedNames: { plural: 'x', kind: 'X' }, conditions: [] },
        }),
        201,
      )
      expectMatch(made.status, {
        storedVersions: ['v1'],
        acceptedNames: (given: { plural: string } | undefined) => given?.plural !== 'x',
      })
    },
  },
  {
    id: 'server/definitions/dry-run',
    rule: 'A dry-run create of a CRD defines nothing.',
    async run(place) {
      ok(await place.post('customresourcedefinitions', definitionIn(place), { query: { dryRun: 'All' } }), 201)
      assert.equal((await place.get('customresourcedefinitions', `widgets.${groupIn(place)}`)).status, 404)
      assert.equal((await place.client.request('GET', `/apis/${groupIn(place)}/v1`)).status, 404)
    },
  },
  {
    id: 'server/definitions/unknown-field',
    rule: 'Unknown fields of a CRD are rejected under Strict, in schemas too.',
    async run(place) {
      const answer = await place.post(
        'customresourcedefinitions',
        definitionIn(place, {
          spec: { type: 'object', colour: 1, properties: { a: { type: 'string', taste: 'sweet' } } },
        }),
        { query: { fieldValidation: 'Strict' } },
      )
      expectStatus(answer, {
        code: 400,
        reason: 'BadRequest',
        message:
          /strict decoding error: .*unknown field "spec\.versions\[0\]\.schema\.openAPIV3Schema\.properties\.spec\.colour".*unknown field "spec\.versions\[0\]\.schema\.openAPIV3Schema\.properties\.spec\.properties\.a\.taste"|unknown field "spec\.versions\[0\]\.schema\.openAPIV3Schema\.properties\.spec\.properties\.a\.taste".*colour"/,
      })
    },
  },
]

const names: readonly ServerCase[] = [
  {
    id: 'server/definitions/short-name-clash',
    rule: 'A CRD with a taken short name is not established until the name is free.',
    async run(place) {
      const first = await defineCustom(place, { names: { shortNames: ['wd'] } })
      const body = definitionIn(place, { names: { kind: 'Gadget', plural: 'gadgets', shortNames: ['wd'] } })
      const second = ok(await place.post('customresourcedefinitions', body), 201).metadata.name
      expectMatch(await conditionOf(place, [second, 'NamesAccepted'], 'False'), {
        reason: 'ShortNamesConflict',
        message: '"wd" is already in use',
      })
      expectMatch(await conditionOf(place, [second, 'Established'], 'False'), {
        reason: 'NotAccepted',
        message: 'not all names are accepted',
      })
      assert.equal((await place.client.request('GET', `/apis/${groupIn(place)}/v1/gadgets`)).status, 404)
      ok(await place.delete('customresourcedefinitions', first.name))
      await conditionOf(place, [second, 'Established'], 'True')
    },
  },
  {
    id: 'server/definitions/kind-clash',
    rule: 'A kind that is taken in the group is not accepted; the other names are.',
    async run(place) {
      await defineCustom(place)
      const second = ok(
        await place.post(
          'customresourcedefinitions',
          definitionIn(place, { names: { plural: 'gadgets', singular: 'gadget' } }),
        ),
        201,
      ).metadata.name
      expectMatch(await conditionOf(place, [second, 'NamesAccepted'], 'False'), {
        reason: /KindConflict/,
        message: /"Widget(?:List)?" is already in use/,
      })
      expectMatch(ok(await place.get('customresourcedefinitions', second)).status, {
        acceptedNames: { plural: 'gadgets', singular: 'gadget', kind: '' },
      })
    },
  },
  {
    id: 'server/definitions/singular-is-a-plural',
    rule: 'Singular, plural and short names share one namespace.',
    async run(place) {
      await defineCustom(place)
      const second = ok(
        await place.post(
          'customresourcedefinitions',
          definitionIn(place, { names: { kind: 'Gadget', plural: 'gadgets', singular: 'widgets' } }),
        ),
        201,
      ).metadata.name
      expectMatch(await conditionOf(place, [second, 'NamesAccepted'], 'False'), {
        reason: 'SingularConflict',
        message: '"widgets" is already in use',
      })
    },
  },
  {
    id: 'server/definitions/other-group',
    rule: 'Names conflict only within a group.',
    async run(place) {
      await defineCustom(place, { names: { shortNames: ['wd'] } })
      const group = `other.${groupIn(place)}`
      const body = definitionIn(place, { names: { shortNames: ['wd'] }, more: { group } })
      ok(await place.post('customresourcedefinitions', { ...body, metadata: { name: `widgets.${group}` } }), 201)
      await conditionOf(place, [`widgets.${group}`, 'Established'], 'True')
    },
  },
  {
    id: 'server/definitions/new-short-name',
    rule: 'The names of an established CRD can change to free names.',
    async run(place) {
      const widgets = await defineCustom(place)
      await widgets.change((spec) => {
        spec.names['shortNames'] = ['wx']
      })
      const answer = await eventually(
        () => place.get('customresourcedefinitions', widgets.name),
        ({ text }) =>
          (JSON.parse(text) as { status: { acceptedNames: { shortNames?: unknown } } }).status.acceptedNames
            .shortNames !== undefined,
      )
      expectMatch(answer.json.status, { acceptedNames: { shortNames: ['wx'] } })
    },
  },
]

const change: readonly ServerCase[] = [
  {
    id: 'server/definitions/needs-version',
    rule: 'A replace of a CRD needs a resourceVersion.',
    async run(place) {
      const { name } = await defineCustom(place)
      const answer = await place.put('customresourcedefinitions', name, { body: definitionIn(place) })
      expectStatus(answer, { code: 422, reason: 'Invalid' })
      assert.deepEqual(causesOf(answer, place), [
        'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ])
    },
  },
  {
    id: 'server/definitions/immutable',
    rule: 'Group, scope, kind and plural of an established CRD are immutable.',
    async run(place) {
      const widgets = await defineCustom(place)
      const answer = await widgets.tryChange((spec) => {
        spec['scope'] = 'Cluster'
        spec.names['kind'] = 'Gadget'
      })
      expectStatus(answer, { code: 422, reason: 'Invalid' })
      assert.deepEqual(causesOf(answer, place), [
        'spec.names.kind: Invalid value: "Gadget": field is immutable',
        'spec.scope: Invalid value: "Cluster": field is immutable',
      ])
    },
  },
  {
    id: 'server/definitions/generation',
    rule: 'The generation of a CRD increases with changes of the spec, not of the labels.',
    async run(place) {
      const { name } = await defineCustom(place)
      expectMatch(
        ok(await place.patch('customresourcedefinitions', name, { body: { metadata: { labels: { a: 'b' } } } })),
        { metadata: { generation: 1, labels: { a: 'b' } } },
      )
      expectMatch(
        ok(
          await place.patch('customresourcedefinitions', name, { body: { spec: { names: { categories: ['all'] } } } }),
        ),
        { metadata: { generation: 2 } },
      )
    },
  },
  {
    id: 'server/definitions/strategic',
    rule: 'A CRD is a built-in kind: it supports every patch type.',
    async run(place) {
      const { name } = await defineCustom(place)
      const type = 'application/strategic-merge-patch+json'
      expectMatch(
        ok(
          await place.patch('customresourcedefinitions', name, {
            body: { metadata: { finalizers: null, labels: { a: 'b' } } },
            type,
          }),
        ),
        { metadata: { labels: { a: 'b' } } },
      )
    },
  },
  {
    id: 'server/definitions/invalid-change',
    rule: 'A change that makes the CRD invalid is rejected and changes nothing.',
    async run(place) {
      const widgets = await defineCustom(place)
      expectStatus(await widgets.tryChange(withSpec({ type: 'colour' })), {
        code: 422,
        reason: 'Invalid',
        message: /Unsupported value: "colour"/,
      })
      expectMatch(await widgets.definition(), { metadata: { generation: 1 } })
    },
  },
  {
    id: 'server/definitions/status-metadata',
    rule: 'A write of the CRD status can change finalizers too, but not the spec.',
    async run(place) {
      const widgets = await defineCustom(place)
      const before = await widgets.definition()
      const body = {
        ...before,
        metadata: { ...before.metadata, finalizers, labels: { a: 'b' } },
        spec: { ...before.spec, scope: 'Cluster' },
      }
      const after = ok(await place.put('customresourcedefinitions', `${widgets.name}/status`, { body }), 200)
      expectMatch(after, { metadata: { finalizers, generation: 1 }, spec: { scope: 'Namespaced' } })
      ok(await place.patch('customresourcedefinitions', widgets.name, { body: { metadata: { finalizers: [] } } }))
    },
  },
]

const watching: readonly ServerCase[] = [
  {
    id: 'server/definitions/watch-ends-with-schema',
    rule: 'When the schema changes, watches of the resource end cleanly, and a new watch uses the new schema.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: { ...object, properties: { a: { type: 'string' } } } })
      ok(await widgets.create('one', { spec: { a: 'x' } }), 201)
      const stream = await widgets.watch()
      await widgets.change(
        withSpec({ ...object, properties: { a: { type: 'string' }, b: { type: 'string', default: 'new' } } }),
      )
      assert.deepEqual(brief(await stream.rest()), ['ADDED one'])
      expectMatch(await (await widgets.watch()).next(), { type: 'ADDED', object: { spec: { a: 'x', b: 'new' } } })
    },
  },
  {
    id: 'server/definitions/watch-survives-labels',
    rule: 'A change outside the spec does not end watches.',
    async run(place) {
      const widgets = await defineCustom(place)
      const stream = await widgets.watch()
      ok(await place.patch('customresourcedefinitions', widgets.name, { body: { metadata: { labels: { a: 'b' } } } }))
      ok(await widgets.create('one'), 201)
      assert.deepEqual(brief([await stream.next()]), ['ADDED one'])
    },
  },
]

const death: readonly ServerCase[] = [
  {
    id: 'server/definitions/delete',
    rule: 'Deleting a CRD deletes its instances and removes the resource.',
    async run(place) {
      const widgets = await defineCustom(place)
      for (const name of ['one', 'two']) ok(await widgets.create(name), 201)
      const stream = await widgets.watch({ resourceVersion: ok(await widgets.list()).metadata.resourceVersion })
      const gone = ok(await place.delete('customresourcedefinitions', widgets.name), 200)
      expectMatch(gone, {
        kind: 'CustomResourceDefinition',
        metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'], deletionTimestamp: /Z$/ },
      })
      assert.deepEqual(brief(await stream.take(2)).sort(), ['DELETED one', 'DELETED two'])
      await goneEventually(widgets)
      await eventually(
        () => widgets.list(),
        ({ status }) => status === 404,
      )
    },
  },
  {
    id: 'server/definitions/delete-and-again',
    rule: 'A CRD can be created again: it starts without instances.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('one'), 201)
      ok(await place.delete('customresourcedefinitions', widgets.name))
      await goneEventually(widgets)
      const again = await defineCustom(place)
      assert.deepEqual(namesOf(ok(await again.list())), [])
    },
  },
  {
    id: 'server/definitions/delete-held',
    rule: 'While an instance has finalizers the CRD is terminating: reads work, creates are rejected, and the CRD goes away with the last instance.',
    async run(place) {
      const widgets = await defineCustom(place)
      ok(await widgets.create('held', { metadata: { finalizers } }), 201)
      ok(await place.delete('customresourcedefinitions', widgets.name))
      expectMatch(await conditionOf(place, [widgets.name, 'Terminating'], 'True'), {
        reason: /Instance(?:Deletion(?:InProgress|Pending)|Deletion)/,
      })
      expectStatus(
        await eventually(
          () => widgets.create('late'),
          ({ status }) => status !== 201,
        ),
        {
          code: 403,
          reason: 'Forbidden',
          message: /"late" is forbidden: create not allowed while custom resource definition is terminating/,
          details: { kind: 'widgets', name: 'late' },
        },
      )
      expectMatch(
        ok(
          await eventually(
            () => widgets.get('held'),
            ({ json }) => json.metadata.deletionTimestamp !== undefined,
          ),
          200,
        ),
        { metadata: { finalizers } },
      )
      assert.ok(namesOf(ok(await widgets.list(), 200)).includes('held'))
      ok(await widgets.patch('held', { metadata: { finalizers: [] } }), 200)
      await goneEventually(widgets)
    },
  },
  {
    id: 'server/definitions/delete-leaves-others',
    rule: 'Deleting a CRD keeps the other resources of the group.',
    async run(place) {
      const widgets = await defineCustom(place)
      const gadgets = await defineCustom(place, { names: { kind: 'Gadget', plural: 'gadgets' } })
      const kept = ok(await gadgets.create('kept'), 201)
      ok(await place.delete('customresourcedefinitions', widgets.name))
      await goneEventually(widgets)
      const now = ok(await gadgets.get('kept'), 200)
      assert.ok(!isNewer(now, kept))
    },
  },
]

export const definitionLifeCases: readonly ServerCase[] = [...birth, ...names, ...change, ...watching, ...death]
