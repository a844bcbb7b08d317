/**
 * `evenkeel tree`: prints an object and its dependents, each with its state.
 */
import { stringifyJson } from 'evenkeel/unstable/api'
import { namespaceOptions, type Command } from '../command.ts'
import { readTarget } from '../lookup.ts'
import { readTree, type Branch } from '../object-tree.ts'
import { safeText } from '../terminal.ts'

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
    const { branch, unreadKinds } = await readTree(client, root, io)
    if (json) io.stdout.write(`${stringifyJson(branch)}\n`)
    else {
      io.stdout.write(
        safeText(
          lines(branch)
            .map((line) => `${line}\n`)
            .join(''),
        ),
      )
      for (const { kind, why } of unreadKinds) io.stderr.write(safeText(`Not listed: ${kind} (${why})\n`))
    }
    return 0
  },
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
