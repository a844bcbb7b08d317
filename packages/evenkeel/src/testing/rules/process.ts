/**
 * Rules about a process.
 *
 * `escape`: time, random numbers and the network come from the context, so that the schedule is deterministic.
 * `floating`: what a reconcile starts ends before it returns.
 * `leader`: a process that lost the lease stops. A write that it had already sent may still arrive.
 * `leak`: one watch per resource and selector. A watch per object or per reconcile grows without limit.
 */
import { basename } from 'node:path'
import { isJsonObject } from '#api'
import type { Interaction } from '../deviation.ts'
import type { Rule, RuleContext } from './rule.ts'

export const escapes: Rule = {
  code: 'escape',
  says: 'use the clock, the random source and the services of the context',
  watch: (world) => ({
    quiet({ isLast }) {
      if (!isLast) return
      for (const { what, origin } of world.escapes) {
        world.addFinding({
          rule: 'escape',
          severity: 'error',
          about: what,
          message: `${what} at ${basename(origin)} bypasses the simulation: the schedule is not deterministic`,
          hint: hints[what] ?? 'use the external services of the scenario',
        })
      }
    },
  }),
}

const hints: Readonly<Record<string, string>> = {
  'a timer': 'return { afterMs } or use sleep with context.clock',
  setTimeout: 'return { afterMs } or use sleep with context.clock',
  setInterval: 'return { afterMs }',
  setImmediate: 'use context.clock.soon',
  Date: 'use context.clock.now()',
  'Math.random': 'use context.random',
  'process.exit': 'throw an error: the runtime decides whether the process ends',
}

export const floatingPromises: Rule = {
  code: 'floating',
  says: 'what a reconcile starts ends before it returns',
  watch: (world) => ({
    request(proc, request, requestInfo) {
      if (!requestInfo.isWrite && !requestInfo.isRead) return
      const [, id] = /reconcile\/(\S+)/.exec(request.headers['user-agent'] ?? '') ?? []
      if (id === undefined) return
      const entry = proc.manager?.ledger.find(id)
      if (!entry?.end) return
      world.addFinding({
        rule: 'floating',
        severity: 'error',
        about: `${requestInfo.verb} ${requestInfo.resource}`,
        message: `${requestInfo.verb} ${requestInfo.resource} ${requestInfo.name} is sent after its reconcile has ended: an await is missing`,
        hint: 'await every call',
      })
    },
  }),
}

export const leadership: Rule = {
  code: 'leader',
  says: 'a process that lost the lease stops',
  watch(world) {
    /** Effects since a process was deposed, by process and step; a process that is elected again has no entry. */
    const effects = new Map<string, number>()
    const reelected = new Set<string>()
    return {
      done(interaction) {
        const { process: proc, about, type, outcome, requestInfo } = interaction
        if (type !== 'effect' || !/^(?:20|done)/.test(outcome) || requestInfo?.resource === 'leases') return
        const holder = holderFor(interaction, world)
        const deposition = `${proc.name} ${world.deposed.get(proc) ?? 'never'}`
        if (holder === proc.name) reelected.add(deposition)
        const isDeposed = world.deposed.has(proc) && !reelected.has(deposition)
        const since = effects.get(deposition) ?? 0
        if (isDeposed) effects.set(deposition, since + 1)
        // One effect may have been sent before the lease was lost.
        if ((!isDeposed || since === 0) && (holder === '' || holder === proc.name)) return
        world.addFinding({
          rule: 'leader',
          severity: 'error',
          about,
          message: `${proc.name} continues to work although another process leads: ${about}`,
          hint: 'check the signal before every external call, and write with the client of the context',
        })
      },
    }
  },
}

/** The holder of the lease when the interaction was sent; '' when there was none. */
function holderFor({ requestedAt }: Interaction, { history, options: { scenario } }: RuleContext): string {
  if (!scenario.leaderElection) return ''
  const last = history.events.findLast(
    ({ resource, step, after }) => resource === 'leases' && step < requestedAt && after !== undefined,
  )
  const holder = isJsonObject(last?.after?.['spec']) ? last.after['spec']['holderIdentity'] : undefined
  return typeof holder === 'string' ? holder : ''
}

/** Query parameters that differ between two connections of the same watch. */
const connectionParameters =
  /(?:^|&)(?:resourceVersion|resourceVersionMatch|timeoutSeconds|sendInitialEvents|allowWatchBookmarks|watch)=[^&]*/g

export const watches: Rule = {
  code: 'leak',
  says: 'open one watch per resource, and close what you open',
  watch(world) {
    const targets = new Map<string, Set<string>>()
    return {
      request({ name }, { target }, { isWatch, resource }) {
        if (!isWatch) return
        const key = `${name} ${resource}`
        targets.set(
          key,
          (targets.get(key) ?? new Set()).add(target.replace('?', '?&').replace(connectionParameters, '')),
        )
      },
      quiet() {
        if (world.options.reference) return
        for (const proc of world.processes) {
          if (proc.isDead) continue
          for (const [key, different] of targets) {
            const [name, resource = ''] = key.split(' ')
            if (name !== proc.name || proc.network.streams(resource).length <= different.size) continue
            world.addFinding({
              rule: 'leak',
              severity: 'error',
              about: `watch ${resource}`,
              message: `${proc.network.streams(resource).length} watches of ${resource} are open, ${different.size} would be enough: the program opens watches and never closes them`,
              hint: 'declare watches in `watches` or `owns`, or close the ones you open',
            })
          }
        }
      },
    }
  },
}
