/**
 * What removes containers after `kill -9` of Evenkeel: a program for `node -e`, started by the watchdog and ended when nothing is
 * left. It uses what every machine with Evenkeel has: Node, and the socket or the executable that Evenkeel itself used.
 *
 * The file `FOLDER/containers` says which: `socket PATH` or `cli EXECUTABLE`. It is written before the first container is made.
 * A create that was under way may still make a container: the program looks again until there was nothing for a second.
 *
 * Invariant: it removes only what has the label of the session and the lifetime `session`.
 */
import { labelOf } from './container-labels.ts'

export const cleanupScript = `
const { readFileSync } = require('node:fs')
const { request } = require('node:http')
const { execFile } = require('node:child_process')
const [session, file] = process.argv.slice(1)
const [kind, target] = readFileSync(file, 'utf8').trim().split(/ (.*)/s)
const labels = ['${labelOf.session}=' + session, '${labelOf.lifetime}=session']
const filters = encodeURIComponent(JSON.stringify({ label: labels }))
const send = (method, path) => new Promise((resolve, reject) => {
  const sent = request({ socketPath: target, method, path, agent: false, headers: { host: 'localhost' } }, (answer) => {
    let text = ''
    answer.setEncoding('utf8').on('data', (piece) => { text += piece })
    answer.on('end', () => { resolve(text) })
  })
  sent.on('error', reject)
  sent.end()
})
const run = (...args) => new Promise((resolve) => {
  execFile(target, args, (error, output) => { resolve(error ? '' : output) })
})
const bySocket = [
  [async () => JSON.parse(await send('GET', '/containers/json?all=true&filters=' + filters)).map(({ Id }) => Id),
    (id) => send('DELETE', '/containers/' + id + '?force=true&v=true')],
  [async () => JSON.parse(await send('GET', '/networks?filters=' + filters)).map(({ Name }) => Name),
    (name) => send('DELETE', '/networks/' + name)],
  [async () => (JSON.parse(await send('GET', '/volumes?filters=' + filters)).Volumes ?? []).map(({ Name }) => Name),
    (name) => send('DELETE', '/volumes/' + name)],
]
const asArguments = labels.flatMap((label) => ['--filter', 'label=' + label])
const lines = async (...args) => (await run(...args, ...asArguments)).split('\\n').filter(Boolean)
const byExecutable = [
  [() => lines('ps', '--all', '--quiet', '--no-trunc'), async (id) => { await run('kill', '--signal', 'KILL', id); await run('rm', '--force', '--volumes', id) }],
  [() => lines('network', 'ls', '--format', '{{.Name}}'), (name) => run('network', 'rm', name)],
  [() => lines('volume', 'ls', '--format', '{{.Name}}'), (name) => run('volume', 'rm', name)],
]
const main = async () => {
  let empty = 0
  for (let round = 0; round < 60 && empty < 4; round++) {
    let found = 0
    for (const [list, remove] of kind === 'socket' ? bySocket : byExecutable) {
      const names = await list().catch(() => [])
      found += names.length
      await Promise.all(names.map((name) => remove(name).catch(() => undefined)))
    }
    empty = found === 0 ? empty + 1 : 0
    await new Promise((resolve) => { setTimeout(resolve, 250) })
  }
}
if (kind === 'socket' || kind === 'cli') main()
`
