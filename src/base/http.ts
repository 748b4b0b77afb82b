/**
 * What is used of node:http. Importing that module as one reads all of its exports, one of which loads a whole HTTP
 * client that Skein does not use: 70 to 90 milliseconds of CPU in every thread (profiled).
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
