/**
 * `evenkeel tree`: prints an object and its dependents, each with its state.
 */
import { stringifyJson } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { namespaceOptions, type Command } from '../command.ts'
import { readTarget } from '../lookup.ts'
import { stateOf, type ObjectState } from '../object-state.ts'
import { readOwnerGraph, type OwnedObject, type OwnerGraph } from '../owner-graph.ts'
import { safeText } from '../terminal.ts'

const depthMax = 12

export const tree: Command = {
  name: 'tree',
  about: 'show the dependents of an object and their state',
  usage: 'KIND/NAME',
  words: { least: 1, most: 2 },
  completes: 'kinds',
  options: namespaceOptions,
  examples: ['evenkeel tree app/web'],
  async run(call) {
    const { io, json } = call
    const client = await call.connect({ warnings: false })
    const root = await readTarget(client, call)
    const family = await readOwnerGraph(client, { namespace: root.metadata.namespace, signal: io.signal })
    const branch = await grow(client, root, { family, signal: io.signal, depth: 0, above: new Set() })
    if (json) io.stdout.write(`${stringifyJson(branch)}\n`)
    else {
      io.stdout.write(
        safeText(
          lines(branch)
            .map((line) => `${line}\n`)
            .join(''),
        ),
      )
      for (const { kind, why } of family.unreadKinds) io.stderr.write(safeText(`Not listed: ${kind} (${why})\n`))
    }
    return 0
  },
}

interface Branch {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly state: ObjectState
  readonly children: readonly Branch[]
}

interface Growing {
  readonly family: OwnerGraph
  readonly signal: AbortSignal
  readonly depth: number
  /** The uids above: stops at a cycle of owners. */
  readonly above: ReadonlySet<string>
}

async function grow(
  client: Client,
  member: OwnedObject | KubeObject,
  { family, signal, depth, above }: Growing,
): Promise<Branch> {
  const {
    apiVersion,
    kind,
    metadata: { name = '', namespace, uid = '' },
  } = member
  const whole =
    'spec' in member || 'status' in member
      ? member
      : await client.find({ apiVersion, kind }, { name, ...(namespace !== undefined && { namespace }) }, { signal })
  const within = new Set([...above, uid])
  const next = depth >= depthMax ? [] : family.childrenOf(uid).filter(({ metadata }) => !within.has(metadata.uid ?? ''))
  const children = await Promise.all(
    next.map((child) => grow(client, child, { family, signal, depth: depth + 1, above: within })),
  )
  return {
    apiVersion,
    kind,
    name,
    ...(namespace !== undefined && { namespace }),
    state: whole ? stateOf(whole) : { word: 'Gone', isGood: false, why: 'it was deleted in the meantime' },
    children,
  }
}

function lines({ kind, name, state: { word, isGood, why }, children }: Branch): readonly string[] {
  const own = `${isGood === undefined ? '·' : isGood ? '✓' : '✗'} ${kind}/${name}  ${word}${why === '' || isGood === true ? '' : `: ${why}`}`
  return [
    own,
    ...children.flatMap((child, index) => {
      const isLast = index === children.length - 1
      return lines(child).map((line, at) => `${at === 0 ? (isLast ? '└─ ' : '├─ ') : isLast ? '   ' : '│  '}${line}`)
    }),
  ]
}
