console.log('hi', process.version);
