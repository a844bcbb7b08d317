/**
 * Watches: one for everything that is followed, however many objects there are. Who opens another one for every object, or in
 * every run, hears everything many times over and never stops to grow.
 */
import type { Rule } from '../finding.ts'

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
