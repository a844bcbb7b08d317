/**
 * Right controllers by combination: how a child is written x what else is done x the shape of the program.
 *
 * They are source texts like those in `right`, so that they run in the same way.
 */
import { fileURLToPath } from 'node:url'
import type { RightController } from './right-controllers.ts'

interface Part {
  readonly name: string
  /** Members of the declaration. */
  readonly declares?: string
  /** Statements of the reconcile before the child is written, and after. */
  readonly before?: string
  readonly after?: string
  /** Statements of the module. */
  readonly module?: string
  /** Members of the scenario. */
  readonly scenario?: string
  readonly reports?: string
  /** More content of the child: `, more: 'yes'`. */
  readonly data?: string
}

interface Style extends Part {
  /** Statements that write the child `at` with `data`. */
  readonly write: string
}

const styles: readonly Style[] = [
  {
    name: 'apply',
    write: `await client.apply(setControllerReference(thing, { ...named, metadata: at, data }), { force: true })`,
  },
  { name: 'children', reports: `'children'`, write: `await children.apply(ConfigMap, { metadata: at, data })` },
  { name: 'declare', reports: `'children'`, write: `await children.declare([[ConfigMap, { metadata: at, data }]])` },
  {
    name: 'create-or-update',
    write: `await client.createOrUpdate({ ...named, metadata: at, data: {} }, (current) =>
        setControllerReference(thing, { ...current, data }))`,
  },
  {
    name: 'update',
    write: `const found = await client.find(ConfigMap, at)
      if (!found) await client.create(setControllerReference(thing, { ...named, metadata: at, data }))
      else if (!isOwnedBy(found, thing)) throw new Error('the ConfigMap belongs to another owner')
      else if (JSON.stringify(found.data) !== JSON.stringify(data)) await client.update({ ...found, data })`,
  },
]

const verbs: readonly Part[] = [
  { name: 'plain' },
  {
    name: 'cleanup',
    declares: `async cleanup(thing) {
      await cloud.delete('b-' + thing.metadata.uid)
    },`,
    before: `await cloud.ensure('b-' + thing.metadata.uid, { owner: thing.metadata.name, region: thing.spec.text })`,
  },
  {
    name: 'two-steps',
    declares: `cleanup: [
      { finalizer: 'combined.dev/one', cleanup: (thing) => cloud.delete('one-' + thing.metadata.uid) },
      { finalizer: 'combined.dev/two', cleanup: (thing) => cloud.delete('two-' + thing.metadata.uid) },
    ],`,
    before: `await cloud.ensure('two-' + thing.metadata.uid, { owner: thing.metadata.name })
      await cloud.ensure('one-' + thing.metadata.uid, { owner: thing.metadata.name })`,
  },
  {
    name: 'depends',
    module: `const uses = dependsOn(ConfigMap, () => ({ name: 'settings', namespace: 'default' }), { optional: true })`,
    declares: `verbs: [uses],`,
    before: `const settings = await uses.one(context)`,
    data: `, settings: settings?.object.data?.['text'] ?? 'none'`,
    scenario: `creates(ConfigMap, 'settings', { data: { text: 'one' } }),
    changes(ConfigMap, 'settings', { data: { text: 'two' } }),`,
  },
  {
    name: 'token',
    module: `const refresh = action('refresh', { form: 'token', about: 'Makes the bucket again.' })`,
    reports: `'actions'`,
    declares: `verbs: [refresh],
    async cleanup(thing) {
      await cloud.delete('b-' + thing.metadata.uid)
    },`,
    before: `await refresh.handle(context, () => cloud.delete('b-' + thing.metadata.uid))
      await cloud.ensure('b-' + thing.metadata.uid, { owner: thing.metadata.name })`,
    scenario: `{
      name: 'refreshes Thing a',
      run: async (user) =>
        user.patch(await user.get(Thing, place), { metadata: { annotations: { 'action.evenkeel.dev/refresh': 't1' } } }),
    },`,
  },
]

interface Shape extends Part {
  readonly scope?: string
  readonly more?: string
}

const shapes: readonly Shape[] = [
  { name: 'one' },
  {
    name: 'two',
    declares: 'concurrency: 2,',
    scenario: `creates(Thing, 'b', { spec: { text: 'of b' } }),
    deletes(Thing, 'b'),`,
  },
  { name: 'requeue', after: 'return { afterMs: 20_000 }' },
  { name: 'cluster', scope: `scope: 'Cluster',` },
  { name: 'leader', more: 'leaderElection: { leaseMs: 15_000 },' },
]

const path = fileURLToPath(new URL('../right/combined/combined.ts', import.meta.url))

/** Every combination. */
export function combinedControllers(): RightController[] {
  return styles.flatMap((style) =>
    verbs.flatMap((verb) =>
      shapes.map((shape) => ({
        id: `combined/${style.name}-${verb.name}-${shape.name}`,
        path,
        text: textOf(style, verb, shape),
      })),
    ),
  )
}

function textOf(style: Style, verb: Part, shape: Shape): string {
  const parts: readonly Part[] = [style, verb, shape]
  const all = (member: 'declares' | 'before' | 'after' | 'module' | 'scenario'): string =>
    parts.map((part) => part[member] ?? '').join('\n      ')
  const reports = parts.flatMap(({ reports: one }) => one ?? []).join(', ')
  const place = shape.scope === undefined ? `{ name: 'a', namespace: 'default' }` : `{ name: 'a' }`
  return `import { action, defineController, defineKind, dependsOn, isOwnedBy, setControllerReference } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { z } from 'zod'
import { Buckets } from '../services.ts'
import { changes, creates, deletes } from '../steps.ts'

const Thing = defineKind({
  group: 'combined.dev', version: 'v1', kind: 'Thing', ${shape.scope ?? ''}
  spec: z.object({ text: z.string() }),
  status: z.object({ text: z.string().optional() }),
  reports: [${reports}],
})
const named = { apiVersion: 'v1', kind: 'ConfigMap' }
const place = ${place}
${all('module')}

export const controllers = ({ external: { cloud } }) => [
  defineController({
    for: Thing,
    owns: [ConfigMap],
    ${all('declares')}
    async reconcile(thing, context) {
      const { children, client, status } = context
      const at = { name: thing.metadata.name + '-child', namespace: thing.metadata.namespace ?? 'default' }
      ${all('before')}
      const data = { text: thing.spec.text${verb.data ?? ''} }
      ${style.write}
      status.set({ text: thing.spec.text })
      status.condition('Ready', true)
      ${all('after')}
    },
  }),
]

export const scenario = {
  name: 'combined',
  ${shape.more ?? ''}
  external: () => ({ cloud: new Buckets() }),
  steps: [
    creates(Thing, 'a', { spec: { text: 'one' } }),
    ${all('scenario')}
    changes(Thing, 'a', { spec: { text: 'two' } }),
    deletes(Thing, 'a'),
  ],
}
`
}
