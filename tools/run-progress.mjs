/**
 * How far a run of the tests is: files done of all, the time that is left, and what was skipped for a missing program.
 *
 * The time left follows from the times of the last run: a few files take most of it, so a count of files alone would
 * mislead. It is scaled by the pace of this run: another machine, or a busy one.
 *
 *   last run: a 60 s, b 20 s, c 20 s      done after 30 s: a      left: 40 s * 30 / 60 = 20 s
 */

/** A file that has never run. */
const unknownMs = 1_000
const skippedFilesMax = 10

/** Programs that some tests need, and the Debian packages that have them. */
const packages = {
  etcd: 'etcd-server',
  etcdctl: 'etcd-client',
  kubectl: 'kubernetes-client',
  openssl: 'openssl',
  chromium: 'chromium',
  ps: 'procps',
  podman: 'podman',
  runc: 'runc',
  busybox: 'busybox-static',
}

export class RunProgress {
  #paths
  #startedMs
  /** Of the last run: the pace of this run is measured against them. */
  #lastTimes
  #times
  #done = new Set()
  #tests = { passed: 0, failed: 0, skipped: 0 }
  /** Path to the number of skipped tests. */
  #skipped = new Map()

  constructor({ paths = [], times = {}, startedMs = 0 } = {}) {
    this.#paths = paths
    this.#startedMs = startedMs
    this.#lastTimes = times
    this.#times = { ...times }
  }

  /** The times of the last run, with those of this one. */
  get times() {
    return this.#times
  }

  /** A file is done. */
  add({ path, ms, states }) {
    this.#done.add(path)
    this.#times[path] = ms
    for (const state of states) this.#tests[state]++
    const skipped = states.filter((state) => state === 'skipped').length
    if (skipped > 0) this.#skipped.set(path, skipped)
  }

  /** `3 of 12 files, 40 passed, 0 failed, about 20 s left` */
  line(nowMs) {
    const { passed, failed } = this.#tests
    const counts = `${this.#done.size} of ${this.#paths.length} files, ${passed} passed, ${failed} failed`
    return `${counts}, ${this.#timeLeft(nowMs)}`
  }

  #timeLeft(nowMs) {
    const sumOf = (paths) => paths.reduce((sum, path) => sum + (this.#lastTimes[path] ?? unknownMs), 0)
    const done = sumOf([...this.#done])
    const left = sumOf(this.#paths.filter((path) => !this.#done.has(path)))
    const seconds = (left * (nowMs - this.#startedMs)) / Math.max(1, done) / 1_000
    return seconds < 60 ? `about ${Math.ceil(seconds)} s left` : `about ${Math.ceil(seconds / 60)} min left`
  }

  /** What was skipped, the programs that are missing with the packages that have them, and the files. */
  skippedLines(hasProgram) {
    const { skipped } = this.#tests
    if (skipped === 0) return []
    const missing = Object.entries(packages)
      .filter(([name]) => !hasProgram(name))
      .map(([name, pack]) => (name === pack ? name : `${name} (Debian package ${pack})`))
    const files = [...this.#skipped].sort(([, a], [, b]) => b - a)
    const others = files.length - skippedFilesMax
    return [
      `${skipped} ${skipped === 1 ? 'test was' : 'tests were'} skipped.${missing.length > 0 ? ` Missing programs: ${missing.join(', ')}.` : ''}`,
      ...files.slice(0, skippedFilesMax).map(([path, count]) => `  ${count} in ${path}`),
      ...(others > 0 ? [`  and in ${others} other ${others === 1 ? 'file' : 'files'}`] : []),
    ]
  }
}
