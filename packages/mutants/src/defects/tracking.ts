/**
 * Defects of a real operator, found by reading it: watches, dependencies and back-references (D1-D3, D10-D14, D17).
 */
import { watching } from 'evenkeel/controller'
import { ConfigMap, Secret } from 'evenkeel/kinds/core/v1'
import type { Client } from 'evenkeel/client'
import type { Mutant } from '../mutant.ts'
import { cleanLink, copyOf, does, Link, linkProgram, rightLink, settingsOf, settingsWatch } from '../worlds/linked.ts'
import type { LinkMaking, LinkObject } from '../worlds/linked.ts'

const clean = cleanLink
const mark = 'mutants.dev/used-by'

/** Records in the settings who uses them, with a patch of only that annotation. */
async function setMark(client: Client, name: string | undefined, value: string | null): Promise<void> {
  const settings =
    name === undefined || name === '' ? undefined : await client.find(ConfigMap, { name, namespace: 'default' })
  if (settings && (settings.metadata.annotations?.[mark] ?? null) !== value)
    await client.patch(settings, { metadata: { annotations: { [mark]: value } } })
}

/** Removes the back-reference from settings that are no longer used. */
async function unmarkOthers(
  { metadata: { uid = '' } }: LinkObject,
  client: Client,
  wanted: string | undefined,
): Promise<void> {
  const { items } = await client.list(ConfigMap, { namespace: 'default' })
  for (const { metadata } of items)
    if (metadata.name !== wanted && metadata.annotations?.[mark] === uid) await setMark(client, metadata.name, null)
}

const rightMarks: LinkMaking = () => ({
  for: Link,
  watches: [settingsWatch],
  async reconcile(link, { client }) {
    await setMark(client, link.spec.uses, link.metadata.uid)
    await unmarkOthers(link, client, link.spec.uses)
  },
  async cleanup(link, { client }) {
    await unmarkOthers(link, client, undefined)
  },
})

const markSteps = [does.settle, does.createBare, does.use, does.unuse, does.remove]
const usedSteps = [does.settle, does.create, does.remove]
const cleanMarks = linkProgram(rightMarks, markSteps)
const cleanUsed = linkProgram(rightMarks, usedSteps)

export const trackingDefects: readonly Mutant[] = [
  {
    id: 'd01',
    mistake: 'a mapper swaps name and namespace of the key',
    rules: ['state'],
    tier: 0,
    clean,
    broken: linkProgram((process) => ({
      ...rightLink(process),
      watches: [
        watching(ConfigMap, {
          map: ({ metadata: { name } }, { cache }) =>
            cache
              .list(Link)
              .filter((link) => link.spec.uses === name)
              .map(({ metadata }) => ({ name: metadata.namespace ?? '', namespace: metadata.name })),
        }),
      ],
    })),
  },
  {
    id: 'd02',
    mistake: 'keeps watches by object name: of two children with one name only the first kind is watched',
    rules: ['state'],
    tier: 1,
    clean,
    broken: linkProgram(
      () => ({
        for: Link,
        owns: [ConfigMap],
        async reconcile(link, { client }) {
          await client.apply(ConfigMap, copyOf(link, { text: 'one' }), { force: true })
          await client.apply(
            Secret,
            { ...copyOf(link, {}), stringData: { text: 'a-secret-text' }, data: {} },
            { force: true },
          )
        },
      }),
      [does.createBare],
    ),
  },
  {
    id: 'd03',
    mistake: 'opens another watch in every reconcile',
    rules: ['leak'],
    tier: 0,
    clean,
    broken: linkProgram(
      ({ client: raw }) => ({
        for: Link,
        owns: [ConfigMap],
        async reconcile(link, { client }) {
          void follow(raw)
          await client.apply(ConfigMap, copyOf(link, {}), { force: true })
        },
      }),
      [does.createBare, does.use],
    ),
  },
  {
    id: 'd10',
    mistake: 'leaves the back-reference on a dependency that is no longer used',
    rules: ['state', 'cleanup'],
    tier: 0,
    clean: cleanMarks,
    broken: linkProgram(
      () => ({
        for: Link,
        watches: [settingsWatch],
        async reconcile(link, { client }) {
          await setMark(client, link.spec.uses, link.metadata.uid)
        },
        async cleanup(link, { client }) {
          await unmarkOthers(link, client, undefined)
        },
      }),
      markSteps,
    ),
  },
  {
    id: 'd11',
    mistake: 'the cleanup uses only the current spec: earlier dependencies keep the back-reference',
    rules: ['cleanup'],
    tier: 1,
    clean: cleanUsed,
    broken: linkProgram(
      () => ({
        for: Link,
        watches: [settingsWatch],
        async reconcile(link, { client }) {
          await setMark(client, link.spec.uses, link.metadata.uid)
          await unmarkOthers(link, client, link.spec.uses)
        },
        async cleanup(link, { client }) {
          await setMark(client, link.spec.uses, null)
        },
      }),
      usedSteps,
    ),
  },
  {
    id: 'd12',
    mistake: 'replaces an object of another owner to add a back-reference',
    rules: ['conflict'],
    tier: 0,
    clean: cleanUsed,
    broken: linkProgram(
      () => ({
        for: Link,
        watches: [settingsWatch],
        async reconcile(link, { client }) {
          const settings = await settingsOf(link, { client })
          if (!settings || settings.metadata.annotations?.[mark] !== undefined) return
          await client.update({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'settings', namespace: 'default', annotations: { [mark]: 'l' } },
            data: settings.data,
          })
        },
      }),
      [does.settle, does.create],
    ),
  },
  {
    id: 'd13',
    mistake: 'polls for a missing dependency without a delay',
    rules: ['hot-loop'],
    tier: 0,
    clean,
    broken: linkProgram(
      () => ({
        for: Link,
        async reconcile(link, { client, status }) {
          const found = await client.find(ConfigMap, { name: link.spec.uses ?? 'none', namespace: 'default' })
          status.set({ found: found !== undefined })
          return found ? undefined : { afterMs: 5 }
        },
      }),
      [does.create, does.settle],
    ),
  },
  {
    id: 'd13b',
    mistake: 'does not watch a missing dependency: its creation triggers nothing',
    rules: ['state'],
    tier: 0,
    clean,
    broken: linkProgram(
      () => ({
        for: Link,
        owns: [ConfigMap],
        async reconcile(link, { client, status }) {
          status.set({ found: (await settingsOf(link, { client })) !== undefined })
        },
      }),
      [does.create, does.settle],
    ),
  },
  {
    id: 'd17',
    mistake: 'a back-reference by name without a uid, and an empty list that remains',
    rules: ['cleanup', 'identity'],
    tier: 0,
    clean: cleanUsed,
    broken: linkProgram(
      () => ({
        for: Link,
        watches: [settingsWatch],
        async reconcile(link, { client }) {
          await setMark(client, link.spec.uses, JSON.stringify([link.metadata.name]))
        },
        async cleanup(link, { client }) {
          await setMark(client, link.spec.uses, '[]')
        },
      }),
      usedSteps,
    ),
  },
]

async function follow(client: Client): Promise<void> {
  for await (const event of client.watch(ConfigMap, { namespace: 'default' })) if (event.type === 'ERROR') return
}
