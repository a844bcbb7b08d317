/**
 * What starting programs costs by itself: `node bare-spawner.mjs COUNT ARGUMENT` starts so many `sleep ARGUMENT`, and ends them
 * at SIGTERM.
 */
import { spawn } from 'node:child_process'

const [, , count = '0', argument = '0'] = process.argv
const children = Array.from({ length: Number(count) }, () =>
  spawn('sleep', [argument], { detached: true, stdio: 'ignore' }),
)
process.on('SIGTERM', () => {
  for (const child of children) child.kill('SIGTERM')
})
