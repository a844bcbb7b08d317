/**
 * Prepares a fresh clone: checks the Node version, and installs the packages of package-lock.json.
 *
 * Every npm script calls this first, so `npm start` and `npm test` need nothing before them. When everything is
 * installed it only compares a hash, which takes a few milliseconds. It imports no package, because none may be
 * installed yet.
 *
 * Two may run at once: one installs, the other waits. The lock is outside node_modules (`npm ci` empties that folder),
 * and its owner refreshes it while it runs, so a killed install blocks other runs for at most `staleMs`.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lockFile = join(root, 'package-lock.json')
const modules = join(root, 'node_modules')
const stampFile = join(modules, '.evenkeel-lock')
const busyFile = join(root, '.cache', 'ensure.busy')
const nodeFloor = [20, 19]
const beatMs = 1_000
const staleMs = 15_000

/** The reasons of a failed `npm ci` and their remedies: the first pattern that matches wins. */
const remedies = [
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ENOTCACHED|network/i,
    'the package registry cannot be reached: check the network or proxy, then run it again',
  ],
  [/EROFS|EACCES|EPERM/, 'this folder cannot be written: copy the clone to a folder of your own, then run it again'],
  [/EBADENGINE/, `this Node is too old for a package: use Node ${nodeFloor.join('.')} or newer`],
  [
    /EUSAGE|in sync/,
    'package-lock.json does not match package.json: run `npm install` once and commit the lock file; if that changes nothing, `npm ci` names the packages that are missing',
  ],
  [
    /E404|ETARGET/,
    'the package registry does not have a version that package-lock.json names: check which registry npm uses',
  ],
  [/ENOSPC/, 'the disk is full: free some space, then run it again'],
  [/ENOENT.*npm|spawn npm/, '`npm` was not found: install it (it comes with Node), then run it again'],
]

/** A failure that the user can fix; printed as one line, without a stack. */
class NotReady extends Error {}

/** Resolves when the clone is ready. Otherwise throws an error whose message says what to do. */
export async function ensure() {
  checkNode()
  if (isReady()) return
  checkWritable()
  await holdingLock(async () => {
    if (!isReady()) await install()
  })
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > nodeFloor[0] || (major === nodeFloor[0] && minor >= nodeFloor[1])) return
  throw new NotReady(
    `Evenkeel needs Node ${nodeFloor.join('.')} or newer, this is ${process.versions.node}: install a newer Node, then run it again`,
  )
}

/** True when node_modules matches the lock file; records that in a stamp. */
function isReady() {
  const wanted = stamp()
  const found = readOr(stampFile, '')
  if (found === wanted) return true
  const otherMachine = found !== '' && found.split(' ')[0] !== wanted.split(' ')[0]
  if (otherMachine || !installedMatchesLock()) return false
  saveStamp(wanted)
  return true
}

/** Machine and hash: node_modules contains binaries, so one from another system does not count. */
function stamp() {
  const hash = createHash('sha256').update(readFileSync(lockFile)).digest('hex')
  return `${process.platform}-${process.arch} ${hash}`
}

/** Compares npm's own record of the installed packages: `npm install` may have run by hand. */
function installedMatchesLock() {
  const note = readOr(join(modules, '.package-lock.json'), '')
  if (note === '') return false
  const wanted = JSON.parse(readFileSync(lockFile, 'utf8')).packages
  const installed = JSON.parse(note).packages
  return Object.entries(wanted).every(([path, entry]) => {
    const found = installed[path]
    if (path === '') return true
    if (found === undefined) return entry.optional === true || entry.peer === true
    return found.version === entry.version && found.integrity === entry.integrity && existsSync(join(root, path))
  })
}

function saveStamp(text) {
  try {
    writeFileSync(stampFile, text)
  } catch {
    // A read-only clone works too; it only takes the slower comparison each time.
  }
}

/** Fails early when the folder is read-only, before npm prints a page about it. */
function checkWritable() {
  try {
    mkdirSync(dirname(busyFile), { recursive: true })
    const probe = join(dirname(busyFile), `probe-${process.pid}`)
    writeFileSync(probe, '')
    rmSync(probe)
  } catch (error) {
    throw new NotReady(
      `packages are missing and ${root} cannot be written (${error.code}): copy the clone to a folder of your own, then run it again`,
    )
  }
}

async function holdingLock(work) {
  const token = `${process.pid}-${Math.random()}`
  await takeLock(token)
  const beat = setInterval(() => utimesSync(busyFile, new Date(), new Date()), beatMs)
  try {
    await work()
  } finally {
    clearInterval(beat)
    if (readOr(busyFile, '') === token) rmSync(busyFile, { force: true })
  }
}

async function takeLock(token) {
  let isReported = false
  for (;;) {
    try {
      writeFileSync(busyFile, token, { flag: 'wx' })
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (!removeStaleLock() && !isReported) console.error('Packages are being installed by another run, waiting ...')
    isReported = true
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Moves the lock of a dead owner aside; restores it if it turns out to be fresh. */
function removeStaleLock() {
  if (!isStale(busyFile)) return false
  const aside = `${busyFile}.${process.pid}`
  try {
    renameSync(busyFile, aside)
    if (!isStale(aside)) renameSync(aside, busyFile)
    rmSync(aside, { force: true })
    return true
  } catch {
    return false // another run was faster
  }
}

function isStale(path) {
  try {
    return Date.now() - statSync(path).mtimeMs > staleMs
  } catch {
    return false
  }
}

async function install() {
  console.error('Installing packages (npm ci) ...')
  const startMs = Date.now()
  const { code, output } = await npmCi()
  if (code !== 0) throw new NotReady(explain(output))
  saveStamp(stamp())
  console.error(`Packages ready after ${((Date.now() - startMs) / 1_000).toFixed(1)} s.`)
}

function explain(output) {
  const remedy = remedies.find(([pattern]) => pattern.test(output))
  if (remedy) return `installing packages failed: ${remedy[1]}`
  return `installing packages failed: run \`npm ci\` to see why\n${output.trim().split('\n').slice(-20).join('\n')}`
}

/** Runs the npm that started us, if npm did; otherwise the one on the PATH. */
function npmCi() {
  const args = [
    'ci',
    '--include=dev',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=5000',
  ]
  const cli = process.env.npm_execpath ?? ''
  const viaNode = /npm-cli\.c?js$/.test(cli)
  const child = viaNode
    ? spawn(process.execPath, [cli, ...args], { cwd: root })
    : spawn('npm', args, { cwd: root, shell: process.platform === 'win32' })
  return new Promise((resolve) => {
    let output = ''
    const collect = (chunk) => {
      output += chunk
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', (error) => resolve({ code: 1, output: String(error) }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

function readOr(path, otherwise) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}

/** Runs {@link ensure} and ends the process with a one-line message on failure. */
export async function ensureOrExit() {
  try {
    await ensure()
  } catch (error) {
    if (!(error instanceof NotReady)) throw error
    console.error(`Error: ${error.message}`)
    process.exit(1)
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await ensureOrExit()
