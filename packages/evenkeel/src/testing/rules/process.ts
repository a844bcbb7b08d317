/**
 * Nothing leaves the simulation: time, chance, the network and the world outside come through what a program is given.
 */
import { basename } from 'node:path'
import { isJsonObject } from '#api'
import type { Interaction } from '../deviation.ts'
import type { World } from '../world.ts'
import type { Rule } from './rule.ts'

export const escapes: Rule = {
  code: 'escape',
  says: 'take time and chance from the context, and reach the world outside through what you are given',
  watch: (world) => ({
    quiet({ isLast }) {
      if (!isLast) return
      for (const { what, origin } of world.escapes) {
        world.addFinding({
          rule: 'escape',
          severity: 'error',
          about: what,
          message: `${what} at ${basename(origin)} leaves the simulation: what it does is not controlled, and not the same twice`,
          hint: hints[what] ?? 'reach the world outside through the services of the scenario',
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
  'process.exit': 'throw an error: the runtime decides what follows',
}

/*
 * Nothing goes on behind a reconcile's back: what it started ends before it returns.
 */

export const floatingPromises: Rule = {
  code: 'floating',
  says: 'what a reconcile starts ends before it returns',
  watch: (world) => ({
    request(life, request, requestInfo) {
      if (!requestInfo.isWrite && !requestInfo.isRead) return
      const [, id] = /reconcile\/(\S+)/.exec(request.headers['user-agent'] ?? '') ?? []
      if (id === undefined) return
      const entry = life.manager?.ledger.find(id)
      if (!entry?.end) return
      world.addFinding({
        rule: 'floating',
        severity: 'error',
        about: `${requestInfo.verb} ${requestInfo.resource}`,
        message: `${requestInfo.verb} ${requestInfo.resource} ${requestInfo.name} is sent after the reconcile that sends it has ended: an await is missing`,
        hint: 'await every call',
      })
    },
  }),
}

/*
 * Leadership: who has lost the lease stops. What was on its way when it was lost may still arrive, and no more.
 */

export const leadership: Rule = {
  code: 'leader',
  says: 'who has lost the lease stops',
  watch: (world) => ({
    done(point) {
      const { process: life, about, type, outcome, requestInfo } = point
      if (type !== 'effect' || !/^(?:20|done)/.test(outcome) || requestInfo?.resource === 'leases') return
      const holder = holderFor(point, world)
      // Whoever came after it is gone as well, and it was elected again.
      if (holder === life.name) world.deposed.delete(life)
      const since = world.deposed.get(life)
      if (since !== undefined) world.deposed.set(life, since + 1)
      // One deed may have been on its way.
      if ((since ?? 0) === 0 && (holder === '' || holder === life.name)) return
      world.addFinding({
        rule: 'leader',
        severity: 'error',
        about,
        message: `${life.name} works on although another process leads: ${about}`,
        hint: 'look at the signal before every call outside; write with the client of the context',
      })
    },
  }),
}

/** Who had the lease when this was asked for; nobody: ''. */
function holderFor({ requestedAt }: Interaction, { history, options: { scenario } }: World): string {
  if (!scenario.leaderElection) return ''
  const last = history.events.findLast(
    ({ resource, step, after }) => resource === 'leases' && step < requestedAt && after !== undefined,
  )
  const holder = isJsonObject(last?.after?.['spec']) ? last.after['spec']['holderIdentity'] : undefined
  return typeof holder === 'string' ? holder : ''
}

/*
 * Watches: one for everything that is followed, however many objects there are. Who opens another one for every object, or in
 * every run, hears everything many times over and never stops to grow.
 */

const changing =
  /(?:^|&)(?:resourceVersion|resourceVersionMatch|timeoutSeconds|sendInitialEvents|allowWatchBookmarks|watch)=[^&]*/g

export const watches: Rule = {
  code: 'leak',
  says: 'what is opened is closed: one watch for everything that is followed',
  watch(world) {
    const targets = new Map<string, Set<string>>()
    return {
      request({ name }, { target }, { isWatch, resource }) {
        if (!isWatch) return
        const key = `${name} ${resource}`
        targets.set(key, (targets.get(key) ?? new Set()).add(target.replace('?', '?&').replace(changing, '')))
      },
      quiet() {
        if (world.options.reference) return
        for (const life of world.processes) {
          if (life.isDead) continue
          for (const [key, different] of targets) {
            const [name, resource = ''] = key.split(' ')
            if (name !== life.name || life.network.streams(resource).length <= different.size) continue
            world.addFinding({
              rule: 'leak',
              severity: 'error',
              about: `watch ${resource}`,
              message: `${life.network.streams(resource).length} watches of ${resource} are open at the same time, and ${different.size} would do: they are opened again and never closed`,
              hint: 'declare what you watch in `watches` or `owns`; close what you open',
            })
          }
        }
      },
    }
  },
}
