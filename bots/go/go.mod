module refereebot

go 1.19
