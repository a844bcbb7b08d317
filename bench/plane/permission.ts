/**
 * Authorization: the duration of one decision with a thousand bindings.
 *
 * The check takes the same path as every request. There are three users: one of a thousand, who has one of the
 * bindings; one who has them all, and whose permission comes with the last; one who is denied. A further case measures
 * the first decision after a change to a role, when the cache is empty. The goal is 2 microseconds for a cached
 * decision.
 */
import { startServer } from 'evenkeel/server'
import type { Server } from 'evenkeel/server'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'

type Question = Parameters<Server['authorizer']['decide']>[0]

const bindings = 1000
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const [goalNs, peerName] = [2000, 'no peer']

export async function permissionBench({ rounds, only, quick, print }: BenchOptions): Promise<void> {
  const wanted = cases.filter(({ name }) => name.includes(only))
  if (wanted.length === 0) return
  const server = await startServer()
  try {
    await fill(server)
    for (const { name, question, allowed, fresh } of wanted) {
      const count = quick ? 100 : fresh ? 2000 : 500_000
      const measure = fresh ? measureFresh : measureAgain
      const figures = Array.from({ length: rounds + 1 }, () => measure(server, { question, allowed, count })).slice(1)
      const middle = (field: keyof Timed): number => Math.round(median(figures.map((one) => one[field])))
      print({
        case: name,
        ours: middle('ns'),
        peer: undefined,
        peerName,
        unit: 'ns',
        lessIsBetter: true,
        more: { bindings, cpuNs: middle('cpuNs'), ...(!fresh && { goal: goalNs }) },
      })
    }
  } finally {
    await server.stop()
  }
}

interface Case {
  readonly name: string
  readonly question: () => Question
  readonly allowed: boolean
  /** Another value for the same user each time: no cache hits. */
  readonly fresh?: true
}

const cases: readonly Case[] = [
  { name: 'rbac decide', question: () => ask('user-500', 'r500'), allowed: true },
  { name: 'rbac decide, has all bindings', question: () => ask('everybody', 'r999'), allowed: true },
  { name: 'rbac refuse', question: () => ask('user-500', 'secrets'), allowed: false },
  { name: 'rbac decide, nothing remembered', question: () => ask('user-500', 'r500'), allowed: true, fresh: true },
  {
    name: 'rbac decide, has all, nothing remembered',
    question: () => ask('everybody', 'r999'),
    allowed: true,
    fresh: true,
  },
]

function ask(name: string, resource: string): Question {
  return {
    user: { name, groups: ['system:authenticated', 'developers'] },
    verb: 'get',
    path: '',
    resourcePath: { group: 'bench.dev', version: 'v1', resource, subresource: '', namespace: 'default', name: 'x' },
  }
}

interface Measurement {
  readonly question: () => Question
  readonly allowed: boolean
  readonly count: number
}

function measureAgain({ authorizer: access }: Server, { question, allowed, count }: Measurement): Timed {
  const asked = question()
  return timed(count, () => check(access.decide(asked), allowed))
}

function measureFresh({ authorizer: access }: Server, { question, allowed, count }: Measurement): Timed {
  const asked = Array.from({ length: count }, question)
  let index = 0
  return timed(count, () => {
    const one = asked[index++]
    if (one) check(access.decide(one), allowed)
  })
}

/** The duration of one decision; CPU time is more reliable on a shared machine. */
interface Timed {
  readonly ns: number
  readonly cpuNs: number
}

function timed(count: number, run: () => void): Timed {
  const [started, cpu] = [performance.now(), process.cpuUsage()]
  for (let index = 0; index < count; index++) run()
  const { user, system } = process.cpuUsage(cpu)
  return { ns: ((performance.now() - started) * 1e6) / count, cpuNs: ((user + system) * 1000) / count }
}

function check(verdict: ReturnType<Server['authorizer']['decide']>, allowed: boolean): void {
  if (verdict instanceof Promise || verdict.allowed !== allowed) throw new Error('wrong decision')
}

/** A role and a binding for each of a thousand users, half of them in a namespace, and one user with all of them. */
async function fill(server: Server): Promise<void> {
  const numbers = Array.from({ length: bindings }, (_, index) => index)
  await Promise.all(
    numbers.map(async (index) => {
      await post(server, 'clusterroles', {
        metadata: { name: `role-${index}` },
        rules: [{ verbs: ['get', 'list', 'watch'], apiGroups: ['bench.dev'], resources: [`r${index}`] }],
      })
      const subjects = [`user-${index}`, 'everybody'].map((name) => ({
        kind: 'User',
        apiGroup: 'rbac.authorization.k8s.io',
        name,
      }))
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `role-${index}` }
      await post(server, index % 2 === 0 ? 'namespaces/default/rolebindings' : 'clusterrolebindings', {
        metadata: { name: `binding-${index}` },
        roleRef,
        subjects,
      })
    }),
  )
}

async function post(server: Server, path: string, object: object): Promise<void> {
  const { status } = await server.transport({
    method: 'POST',
    target: `${rbac}/${path}`,
    headers: { 'content-type': 'application/json' },
    signal: new AbortController().signal,
    body: Buffer.from(JSON.stringify(object)),
  })
  if (status !== 201) throw new Error(`${path} returned ${status}`)
}
