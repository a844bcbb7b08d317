import { explore, formatReport } from 'evenkeel/testing'
const [, , file] = process.argv
const { controllers, scenario } = await import(file!)
const t = process.cpuUsage()
const explored = await explore({ controllers, scenario })
console.log(formatReport(explored)); const u = process.cpuUsage(t); console.log('cpu s', (u.user + u.system) / 1e6)
