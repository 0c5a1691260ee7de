throw new Error('it cannot be loaded');
